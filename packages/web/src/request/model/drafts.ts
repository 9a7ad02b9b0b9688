/** What a person has begun to answer: it survives a reload, an expiry and a lost race. Secrets are never among it. */
import type { JsonObject } from "interlock-client/json";
import type { Free } from "./free";

/** How one question is answered so far; the own words stay when an option is picked instead. */
export interface Pick {
  choice: string | null;
  isOwn: boolean;
  own: string;
}

export interface Draft {
  /** Why it is refused. */
  refusal?: string;
  /** What the agent is told in place of the call. */
  reply?: string;
  /** Why it is not answered at all. */
  dismissal?: string;
  /** The edited arguments. */
  args?: JsonObject;
  /** What a graph gets that did not say what it takes. */
  free?: Free;
  /** Question by question; a decision has one. */
  picks?: Pick[];
  /** The reason for a decision, or the result of a call that took effect after all. */
  why?: string;
  /** What is to be said to the others. */
  comment?: string;
  /** Variables that are no secrets. */
  values?: Record<string, string>;
}

export const NO_PICK: Pick = { choice: null, isOwn: false, own: "" };

const PREFIX = "interlock.draft.";

export function readDraft(requestId: string): Draft {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(PREFIX + requestId) ?? "{}");
    return typeof kept === "object" && kept !== null ? (kept as Draft) : {};
  } catch {
    return {};
  }
}

export function keepDraft(requestId: string, draft: Draft): void {
  try {
    if (draftText(draft)) sessionStorage.setItem(PREFIX + requestId, JSON.stringify(draft));
    else sessionStorage.removeItem(PREFIX + requestId);
  } catch {
    // A browser that keeps nothing: it holds for as long as the page is open.
  }
}

export function dropDraft(requestId: string): void {
  keepDraft(requestId, {});
}

/** All of it as one text, for whoever cannot send it any more. */
export function draftText(draft: Draft): string {
  const picked = (draft.picks ?? []).map((pick) => (pick.isOwn ? pick.own : (pick.choice ?? pick.own)));
  const values = Object.entries(draft.values ?? {}).map(([name, value]) => (value ? `${name}=${value}` : ""));
  const args = draft.args ? JSON.stringify(draft.args, null, 2) : "";
  const free = draft.free?.way === "json" ? draft.free.json : draft.free?.text;
  const parts = [
    args,
    free,
    ...picked,
    draft.why,
    ...values,
    draft.refusal,
    draft.reply,
    draft.dismissal,
    draft.comment,
  ];
  return parts.filter(Boolean).join("\n");
}

export function pickAt(draft: Draft, place: number): Pick {
  return draft.picks?.[place] ?? NO_PICK;
}

export function withPick(draft: Draft, place: number, pick: Pick): Draft {
  const count = Math.max(place + 1, draft.picks?.length ?? 0);
  return { ...draft, picks: Array.from({ length: count }, (_, at) => (at === place ? pick : pickAt(draft, at))) };
}
