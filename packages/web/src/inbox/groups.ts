/** How urgent a request is, and in which order requests stand. Both are settled when a row is placed, and hold until asked for again. */
import type { InboxEntry } from "interlock-client/inbox";

export type Group = "soon" | "deadline" | "open";

export const GROUPS: readonly Group[] = ["soon", "deadline", "open"];
export const SOON = 5 * 60_000;

export function groupOf(entry: InboxEntry, now: number): Group {
  if (entry.expires_at === null) return "open";
  return Date.parse(entry.expires_at) - now < SOON ? "soon" : "deadline";
}

interface Placed {
  entry: InboxEntry;
  group: Group;
}

/** By group; within one what closes first, and where nothing closes what has waited longest. */
export function inOrder<P extends Placed>(rows: readonly P[]): P[] {
  return [...rows].sort(
    (one, other) =>
      GROUPS.indexOf(one.group) - GROUPS.indexOf(other.group) ||
      momentOf(one) - momentOf(other) ||
      (one.entry.request_id < other.entry.request_id ? -1 : 1),
  );
}

function momentOf({ entry, group }: Placed): number {
  return Date.parse(group === "open" ? entry.created_at : (entry.expires_at ?? entry.created_at));
}
