/** How much of an answer may be kept for later asks. */
import type { InboxRequest, Remember } from "interlock-client/inbox";
import type { Mode } from "../review";

/** null: only this time. */
export type Kept = Remember | null;

const SCOPES = ["this_action", "this_tool", "all_tools"] as const;
const DURATIONS = ["session", "forever"] as const;

/** What is offered beside "only this time". Of what is risky, nothing but the very same call is ever kept. */
export function offered(request: Pick<InboxRequest, "kind" | "risk" | "allow_remember">): Remember[] {
  if (request.kind !== "approval" || !request.allow_remember) return [];
  const scopes = isRisky(request) ? SCOPES.slice(0, 1) : SCOPES;
  return scopes.flatMap((scope) => DURATIONS.map((duration) => ({ scope, duration })));
}

export function isRisky(request: Pick<InboxRequest, "risk">): boolean {
  return request.risk === "high" || request.risk === "critical";
}

export function isSame(one: Kept, other: Kept): boolean {
  return one?.scope === other?.scope && one?.duration === other?.duration;
}

/** Whether a yes that is kept could cover less than is asked later: of what is risky only the same call is kept. */
export function isUnderCeiling(request: Pick<InboxRequest, "risk">, mode: Mode): boolean {
  return mode !== "refuse" && !isRisky(request);
}

/** So wide that it takes the code, however small the risk of this one call. */
export function isWide(kept: Kept): boolean {
  return kept?.scope === "all_tools" || kept?.also_high_risk === true;
}
