/** What a person has begun to write: it survives a reload, and stays in this tab. */

const PREFIX = "interlock.draft.chat.";

/** `null`: of a conversation that is not begun yet. */
export function readDraft(thread: string | null): string {
  try {
    return sessionStorage.getItem(PREFIX + (thread ?? "")) ?? "";
  } catch {
    return "";
  }
}

export function keepDraft(thread: string | null, text: string): void {
  try {
    if (text) sessionStorage.setItem(PREFIX + (thread ?? ""), text);
    else sessionStorage.removeItem(PREFIX + (thread ?? ""));
  } catch {
    // A browser that keeps nothing: it holds for as long as the page is open.
  }
}
