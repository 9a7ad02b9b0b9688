/** When an answer has to repeat the four digits that stand after the last line. */
import type { InboxRequest } from "interlock-client/inbox";
import type { Mode } from "../review";
import { decisionOf } from "./bodies";
import { type Draft, pickAt } from "./drafts";
import { isRisky, isWide, type Kept } from "./remember";

/** Null: the answer that is being given needs none. */
export function neededCode(request: InboxRequest, mode: Mode, kept: Kept, draft: Draft): string | null {
  return isNeeded(request, mode, kept, draft) ? request.code : null;
}

function isNeeded(request: InboxRequest, mode: Mode, kept: Kept, draft: Draft): boolean {
  if (mode === "reply" || mode === "dismiss") return false;
  if (request.kind === "decision") return isRiskyPick(request, draft);
  if (request.kind !== "approval") return false;
  if (mode !== "refuse" && (isRisky(request) || request.people?.needs.code)) return true;
  // A refusal can be kept as widely as a yes; an edit cannot be kept at all.
  return mode !== "edit" && isWide(kept);
}

/** Whether one of its options is dangerous: the digits stand there from the beginning, so that nothing moves. */
export function offersRisk(request: InboxRequest): boolean {
  return request.kind === "decision" && decisionOf(request).choices.some((one) => one.isRisky);
}

export function isRiskyPick(request: InboxRequest, draft: Draft): boolean {
  const { choice } = pickAt(draft, 0);
  return decisionOf(request).choices.some((one) => one.isRisky && one.value === choice);
}
