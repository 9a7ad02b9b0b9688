/** From what a person filled in to the value that the server takes; or what is still missing. */
import type { Answer, InboxRequest } from "interlock-client/inbox";
import type { JsonObject } from "interlock-client/json";
import { doubtOf, type Question, type Variable } from "./bodies";
import { type Draft, type Pick, pickAt } from "./drafts";
import type { Kept } from "./remember";

/** What goes with every answer: what was shown, and how it was looked at. */
export interface Circumstances {
  dwell: number;
  code?: string;
  kept?: Kept;
}

export function answerOf(request: InboxRequest, value: JsonObject, how: Circumstances): Answer {
  const runs = value.decision === "accept" || value.decision === "edit";
  const sha256 = request.kind === "approval" && runs ? request.file?.sha256 : undefined;
  return {
    value,
    digest: request.digest,
    dwell_ms: how.dwell,
    ...(how.code ? { code: how.code } : {}),
    ...(sha256 ? { file_sha256: sha256 } : {}),
    ...(how.kept ? { remember: how.kept } : {}),
  };
}

/** Null: not answered yet. */
export function picked(pick: Pick): string | null {
  if (!pick.isOwn) return pick.choice;
  return pick.own.trim() ? pick.own : null;
}

/** The places of the questions that have no answer. */
export function missingAnswers(questions: readonly Question[], draft: Draft): number[] {
  return questions.flatMap((_, place) => (picked(pickAt(draft, place)) === null ? [place] : []));
}

export function questionsValue(request: InboxRequest, questions: readonly Question[], draft: Draft): JsonObject {
  const answers = questions.map((_, place) => picked(pickAt(draft, place)));
  return request.kind === "questions" ? { answers } : { answer: answers[0] };
}

/** Of a call that was cut short, only what took effect has a result to tell. */
export function decisionValue(request: InboxRequest, draft: Draft): JsonObject {
  const decision = picked(pickAt(draft, 0));
  const hasReason = draft.why?.trim() && (decision === "done" || !doubtOf(request));
  return { decision, ...(hasReason ? { reason: draft.why } : {}) };
}

export function missingValues(variables: readonly Variable[], values: Readonly<Record<string, string>>): string[] {
  return variables.filter((one) => one.isRequired && !values[one.name]).map((one) => one.name);
}

export function variablesValue(
  variables: readonly Variable[],
  values: Readonly<Record<string, string>>,
  save: boolean,
): JsonObject {
  const given = variables.map((one) => [one.name, values[one.name] ?? ""]).filter(([, text]) => text);
  return { values: Object.fromEntries(given), save };
}
