/** How a request ended, and what of that the page has to say instead of offering answers. */
import { Expired } from "interlock-client/errors";
import type { InboxRequest, Outcome } from "interlock-client/inbox";
import type { Delivery } from "../api/deliveries";
import { isFull } from "./people";

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  accept: "approved",
  edit: "edited",
  reject: "refused",
  response: "replied",
};

export function outcomeOf(request: Pick<InboxRequest, "kind" | "status" | "response">): Outcome {
  if (request.status === "cancelled" || request.status === "expired") return request.status;
  return (request.kind === "approval" && OUTCOMES[String(request.response?.decision)]) || "answered";
}

/** What the server itself ends has this name on it, which no person can have. */
export const SERVER = "system";

/** The reason with which a coding agent withdraws what was decided at its own terminal. */
const AT_TERMINAL = "answered_at_the_terminal";

export function isAtTerminal({ status, reason }: { status: string; reason?: string | null }): boolean {
  return status === "cancelled" && reason === AT_TERMINAL;
}

export type Situation =
  /** It can be answered. */
  | "open"
  | "sending"
  /** It was sent, and no reply came: nobody knows yet. */
  | "unsure"
  | "receipt"
  /** Somebody else was first while it was open on this page. */
  | "taken"
  | "expired"
  /** Their own yes is counted, and others are waited for. */
  | "voted"
  /** It was settled before this page was opened, or with their vote among others. */
  | "settled"
  | "deleted"
  | "offline";

/** Whether what is begun can be gone on with; without a connection it is only not sent. */
export function isFillable(situation: Situation): boolean {
  return situation === "open" || situation === "offline";
}

/** Whether it may still come to what the person has made of it. */
export function isUndecided(situation: Situation): boolean {
  return isFillable(situation) || situation === "sending" || situation === "unsure";
}

export interface Circumstances {
  request: Pick<InboxRequest, "status" | "people">;
  delivery: Delivery | null;
  /** Whether it could still be answered when this page was opened. */
  wasOpen: boolean;
  isOverdue: boolean;
  isDeleted: boolean;
  isOffline: boolean;
}

export function situationOf(now: Circumstances): Situation {
  const sent = sentSituation(now.delivery);
  if (sent) return sent;
  if (now.request.status === "pending") return pendingSituation(now);
  if (!now.wasOpen || now.request.people?.own_vote) return "settled";
  return now.request.status === "expired" ? "expired" : "taken";
}

function sentSituation(delivery: Delivery | null): Situation | null {
  switch (delivery?.state) {
    case "sending":
    case "unsure":
      return delivery.state;
    case "done":
      return delivery.settled.status === "pending" ? "voted" : "receipt";
    case "late":
      return delivery.error instanceof Expired ? "expired" : "taken";
    default:
      return null;
  }
}

function pendingSituation(now: Circumstances): Situation {
  if (now.isDeleted) return "deleted";
  // The server takes no answer from then on, even before it has told so.
  if (now.isOverdue) return "expired";
  if (now.isOffline) return "offline";
  return now.request.people?.own_vote === "yes" && !isFull(now.request) ? "voted" : "open";
}
