/** When a call runs that was just approved. */
import type { Agent, InboxRequest } from "interlock-client/inbox";

export type Running =
  | "now"
  /** Others of the same pause have no answer yet. */
  | "waits"
  /** The agent runs it, where it runs itself. */
  | "elsewhere";

/** `others`: how the rest of its pause stands; undefined where that is not known. Null: it cannot be said yet. */
export function runningOf(
  { agent }: Pick<InboxRequest, "agent">,
  hosted: readonly Pick<Agent, "name">[] | undefined,
  others: readonly (Pick<InboxRequest, "status"> | undefined)[],
): Running | null {
  if (!hosted) return null;
  if (!hosted.some((one) => one.name === agent)) return "elsewhere";
  if (others.some((one) => one?.status === "pending")) return "waits";
  return others.includes(undefined) ? null : "now";
}
