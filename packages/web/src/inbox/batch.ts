/** How far each call of a batch has come. */
import { type AlreadySettled, Expired } from "interlock-client/errors";
import type { InboxEntry, InboxRequest } from "interlock-client/inbox";
import type { Delivery } from "@/request/api/deliveries";
import type { End } from "@/request/ended";

export interface Call {
  entry: InboxEntry;
  /** As it is now; null while it is not read. */
  request: InboxRequest | null;
  error: Error | null;
  isDeleted: boolean;
  delivery: Delivery | null;
}

export type Progress =
  | { type: "loading" | "open" | "sending" | "unsure" | "lost" | "deleted" | "expired" }
  /** It was sent, and the deadline was first. */
  | { type: "lateExpired" }
  | { type: "failed"; message: string }
  /** Somebody else answered it before anything was sent. */
  | { type: "settled"; end: End }
  | { type: "done"; act: "accept" | "reject"; at: string }
  /** It was sent, and somebody else was first. */
  | { type: "late"; end: End }
  | { type: "refused"; message: string };

export function progressOf(call: Call): Progress {
  if (call.delivery) return sentProgress(call.delivery);
  if (call.isDeleted) return { type: "deleted" };
  if (!call.request) return call.error ? { type: "failed", message: call.error.message } : { type: "loading" };
  const { status } = call.request;
  if (status === "pending") return { type: "open" };
  return status === "expired" ? { type: "expired" } : { type: "settled", end: call.request };
}

function sentProgress(delivery: Delivery): Progress {
  switch (delivery.state) {
    case "sending":
    case "unsure":
    case "lost":
      return { type: delivery.state };
    case "done":
      return { type: "done", act: delivery.act === "reject" ? "reject" : "accept", at: delivery.settled.answered_at };
    case "late":
      if (delivery.error instanceof Expired) return { type: "lateExpired" };
      return { type: "late", end: endOf(delivery.error) };
    case "refused":
      return { type: "refused", message: delivery.error.message };
  }
}

/** How an approval ended that somebody else was first to answer. */
function endOf({ details, answeredBy, answeredAt, source, answer }: AlreadySettled): End {
  return {
    kind: "approval",
    status: details.current_status === "cancelled" ? "cancelled" : "answered",
    response: answer ?? null,
    answered_by: answeredBy ?? null,
    answered_at: answeredAt ?? null,
    source: source ?? null,
    reason: typeof details.reason === "string" ? details.reason : null,
  };
}

/** Those that an answer would go to now. */
export function chosenOf(calls: readonly Call[], ticked: ReadonlySet<string>): Call[] {
  return calls.filter((call) => ticked.has(call.entry.request_id) && ["open", "lost"].includes(progressOf(call).type));
}

export type Obstacle =
  | { type: "offline" | "loading" | "none" }
  /** So many were not read to their end. */
  | { type: "unread"; count: number };

interface Reading {
  calls: readonly Call[];
  ticked: ReadonlySet<string>;
  /** Those whose end was on the screen. */
  seen: ReadonlySet<string>;
  isOffline: boolean;
}

/** What stands between a person and a yes. */
export function obstacleTo({ calls, ticked, seen, isOffline }: Reading): Obstacle | null {
  if (isOffline) return { type: "offline" };
  const isLoading = (call: Call) => ticked.has(call.entry.request_id) && progressOf(call).type === "loading";
  if (calls.some(isLoading)) return { type: "loading" };
  const chosen = chosenOf(calls, ticked);
  if (chosen.length === 0) return { type: "none" };
  const unread = chosen.filter((call) => !seen.has(call.entry.request_id)).length;
  return unread > 0 ? { type: "unread", count: unread } : null;
}

/** Everything that would run, line by line: the command, and apart from it what it is called with. */
export interface Parts {
  lines: readonly string[];
  rest: readonly string[];
}

export function partsOf({ view: { lines, rest } }: InboxRequest): Parts {
  // An object with nothing in it is one line.
  return { lines, rest: rest.length > 1 ? rest : [] };
}
