/** What a person chose for this browser: kept here, never sent. */
import { useSyncExternalStore } from "react";

export interface Preferences {
  language: "auto" | "zh-CN" | "en";
  theme: "auto" | "light" | "dark";
  shortcuts: boolean;
  notifications: boolean;
  /** The address of Web Push that this browser is, and whose. */
  push: { id: string; person: string } | null;
}

const KEY = "interlock.preferences";
const FIRST: Preferences = { language: "auto", theme: "auto", shortcuts: true, notifications: false, push: null };

let current = read();
const listeners = new Set<() => void>();

export function preferences(): Preferences {
  return current;
}

export function prefer(changed: Partial<Preferences>): void {
  current = { ...current, ...changed };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // A browser that keeps nothing: it holds for this tab.
  }
  told();
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, preferences);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function read(): Preferences {
  try {
    return { ...FIRST, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Preferences>) };
  } catch {
    return FIRST;
  }
}

function told(): void {
  for (const listener of listeners) listener();
}

// Another tab of the same person.
globalThis.addEventListener?.("storage", (event) => {
  if (event.key !== KEY) return;
  current = read();
  told();
});
