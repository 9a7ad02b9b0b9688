/** The text that is written: it survives a reload, stays in this tab, and is kept for nobody else. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

const DRAFT = ["settings", "policy-draft"] as const;
const KEY = "interlock.draft.policy";

export interface Draft {
  text: string;
  /** The version that it began with. */
  base: number | null;
}

export function useDraft(): [Draft | null, (changed: Partial<Draft>) => void] {
  const client = useQueryClient();
  const [draft, setDraft] = useState(() => client.getQueryData<Draft>(DRAFT) ?? readDraft());
  const keep = (changed: Partial<Draft>) => {
    client.setQueryDefaults(DRAFT, { gcTime: Number.POSITIVE_INFINITY });
    // As it is now: something may have been typed since the one who calls was drawn.
    const next = { text: "", base: null, ...(client.getQueryData<Draft>(DRAFT) ?? readDraft()), ...changed };
    client.setQueryData<Draft>(DRAFT, next);
    keepDraft(next);
    setDraft(next);
  };
  return [draft, keep];
}

function readDraft(): Draft | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Draft | null;
  } catch {
    return null;
  }
}

function keepDraft(draft: Draft): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(draft));
  } catch {
    // A browser that keeps nothing: it holds for as long as the page is open.
  }
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
