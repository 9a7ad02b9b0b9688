/** How far somebody's first act has come: in this tab, and for as long as it is under way. */
import { useSyncExternalStore } from "react";
import type { LiveEvent } from "@/api/live";
import { whenPersonLeaves } from "@/api/person";

export interface FirstAct {
  thread: string;
  /** Of what the agent asked; `null` until it did. */
  request: string | null;
  /** Who settled it may have been somebody else. */
  end: "answered" | "ended" | null;
}

/** What it is after something happened; `null`: it is over. */
export function after(act: FirstAct, event: LiveEvent): FirstAct | null {
  switch (event.type) {
    case "asked":
      if (act.request !== null || event.entry.conversation_id !== act.thread) return act;
      return { ...act, request: event.entry.request_id };
    case "settled":
      if (event.settled.request_id !== act.request) return act;
      return { ...act, end: event.settled.status === "answered" ? "answered" : "ended" };
    case "deleted":
      return event.conversationId === act.thread ? null : act;
    default:
      return act;
  }
}

const KEY = "interlock.first-act";
const listeners = new Set<() => void>();

let current: FirstAct | null = null;
let isRead = false;

/** Read when it is first looked at: before somebody is known to be signed in, what is kept may be another one's. */
function firstAct(): FirstAct | null {
  if (!isRead) {
    isRead = true;
    current = read();
  }
  return current;
}

export function setFirstAct(next: FirstAct | null): void {
  current = next;
  isRead = true;
  try {
    if (next) sessionStorage.setItem(KEY, JSON.stringify(next));
    else sessionStorage.removeItem(KEY);
  } catch {
    // A browser that keeps nothing: it holds for this page.
  }
  for (const listener of listeners) listener();
}

whenPersonLeaves(() => {
  current = null;
  for (const listener of listeners) listener();
});

export function useFirstAct(): FirstAct | null {
  return useSyncExternalStore(subscribe, firstAct);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function read(): FirstAct | null {
  try {
    const { thread, request, end } = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as FirstAct;
    return { thread, request, end };
  } catch {
    return null;
  }
}

const dismissedKey = (userId: string) => `interlock.first-act.dismissed.${userId}`;

export function isDismissed(userId: string): boolean {
  try {
    return localStorage.getItem(dismissedKey(userId)) !== null;
  } catch {
    return false;
  }
}

export function dismiss(userId: string): void {
  try {
    localStorage.setItem(dismissedKey(userId), "yes");
  } catch {
    // A browser that keeps nothing shows it again.
  }
}
