import { useEffect, useRef, useState } from "react";
import { watchEnd } from "./watch-end";

export interface End {
  /** What stands after the last line. */
  marker: (element: HTMLElement | null) => void;
  hasSeen: boolean;
}

/**
 * Whether the end of what is shown has been on the screen; `shown` is another text when something else is shown.
 * `covered` says how much of the scroller's lower edge lies under the action bar.
 */
export function useEnd(shown: string, covered: () => number): End {
  const [end, marker] = useState<HTMLElement | null>(null);
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const newest = useRef(covered);
  useEffect(() => {
    newest.current = covered;
  });
  useEffect(() => {
    if (!end || seen.has(shown)) return;
    return watchEnd(end, newest.current(), () => setSeen((before) => new Set([...before, shown])));
  }, [end, shown, seen]);
  return { marker, hasSeen: seen.has(shown) };
}
