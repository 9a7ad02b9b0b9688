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

/** By group; within one what closes first, and where nothing closes what has waited longest. What was asked at once stays as it was asked. */
export function inOrder<P extends Placed>(rows: readonly P[]): P[] {
  return [...rows].sort(
    (one, other) =>
      GROUPS.indexOf(one.group) - GROUPS.indexOf(other.group) ||
      momentOf(one) - momentOf(other) ||
      byPause(one.entry, other.entry),
  );
}

function byPause(one: InboxEntry, other: InboxEntry): number {
  if (one.pause_id !== other.pause_id) return one.pause_id < other.pause_id ? -1 : 1;
  return one.position - other.position;
}

function momentOf({ entry, group }: Placed): number {
  return Date.parse(group === "open" ? entry.created_at : (entry.expires_at ?? entry.created_at));
}
