/** Which requests can be answered together: alike, harmless, and few enough to be read. */
import type { InboxEntry } from "interlock-client/inbox";

export const MOST = 20;

/** Why a request cannot join those that are selected. */
export type Misfit = "kind" | "risk" | "accept" | "agent" | "tool" | "full";

export function misfitOf(entry: InboxEntry, selected: readonly InboxEntry[]): Misfit | null {
  if (entry.kind !== "approval") return "kind";
  if (entry.risk !== "low") return "risk";
  if (!entry.batchable) return "accept";
  const [first] = selected;
  if (first && first.agent !== entry.agent) return "agent";
  if (first && first.tool !== entry.tool) return "tool";
  return selected.length >= MOST ? "full" : null;
}

/** Those that can join, in their order, until there are enough. */
export function alike(entries: readonly InboxEntry[], selected: readonly InboxEntry[]): InboxEntry[] {
  const chosen = [...selected];
  for (const entry of entries) {
    if (chosen.some((one) => one.request_id === entry.request_id)) continue;
    if (misfitOf(entry, chosen) === null) chosen.push(entry);
  }
  return chosen;
}
