/** The text that is written, kept while its writer looks at other pages, and for nobody else. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

const DRAFT = ["settings", "policy-draft"] as const;

export interface Draft {
  text: string;
  /** The version that it began with. */
  base: number | null;
}

export function useDraft(): [Draft | null, (changed: Partial<Draft>) => void] {
  const client = useQueryClient();
  const [draft, setDraft] = useState(() => client.getQueryData<Draft>(DRAFT) ?? null);
  const keep = (changed: Partial<Draft>) => {
    client.setQueryDefaults(DRAFT, { gcTime: Number.POSITIVE_INFINITY });
    // As it is now: something may have been typed since the one who calls was drawn.
    const next = { text: "", base: null, ...client.getQueryData<Draft>(DRAFT), ...changed };
    client.setQueryData<Draft>(DRAFT, next);
    setDraft(next);
  };
  return [draft, keep];
}

/** The value, once it has not changed for so long. */
export function useSettled<T>(value: T, milliseconds: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}
