import { type RefObject, useCallback, useState } from "react";

/** One row at a time can be reached with Tab; the others with arrows and letters. */
export interface Roving {
  tabStop: string | null;
  /** The focus is on this row now. */
  reached: (id: string) => void;
  focus: (id: string) => void;
  move: (by: 1 | -1) => void;
}

export function useRoving(list: RefObject<HTMLElement | null>, ids: readonly string[], open: string | null): Roving {
  const [last, setLast] = useState<string | null>(null);
  const isThere = (id: string | null): id is string => id !== null && ids.includes(id);
  const here = isThere(last) ? last : isThere(open) ? open : null;
  const focus = useCallback(
    (id: string) => {
      setLast(id);
      const row = list.current?.querySelector<HTMLElement>(`[data-request="${CSS.escape(id)}"] a`);
      row?.focus();
    },
    [list],
  );
  const move = (by: 1 | -1) => {
    const place = here === null ? (by > 0 ? 0 : ids.length - 1) : ids.indexOf(here) + by;
    const id = ids[Math.min(Math.max(place, 0), ids.length - 1)];
    if (id !== undefined) focus(id);
  };
  return { tabStop: here ?? ids[0] ?? null, reached: setLast, focus, move };
}
