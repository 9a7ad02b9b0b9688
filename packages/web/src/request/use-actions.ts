import type { InboxRequest } from "interlock-client/inbox";
import type { JsonObject } from "interlock-client/json";
import { decisionValue, missingAnswers, missingValues, picked, questionsValue, variablesValue } from "./model/answers";
import { isFree, questionsOf, variablesOf } from "./model/bodies";
import { pickAt } from "./model/drafts";
import { chosen, freeValue, NOTHING } from "./model/free";
import { mayAnswer } from "./model/people";
import { type Mode, type Review, useReview } from "./review";

/** What the controls of a request do; each looks first whether it may. */
export function useActions() {
  const review = useReview();
  return {
    approve: () => approve(review),
    approveEdit: () => approveEdit(review),
    refuse: () => refuse(review),
    reply: () => reply(review),
    dismiss: () => review.dismiss(),
    answer: () => answer(review),
    open: (mode: Mode) => open(review, mode),
    close: () => (review.over ? goBack : close)(review),
    discard: () => discard(review),
    showNew: () => showNew(review),
    missing: missingIn(review),
  };
}

export type Actions = ReturnType<typeof useActions>;

function approve(review: Review): void {
  if (review.obstacle) nudge(review);
  else review.send("accept", { decision: "accept" });
}

function approveEdit(review: Review): void {
  if (review.obstacle || !review.edit) nudge(review);
  else review.send("edit", { decision: "edit", args: review.edit.args });
}

/** To what is missing. */
function nudge({ request, obstacle }: Review): void {
  if (obstacle?.type === "code") focusAct(request, "code");
  if (obstacle?.type === "misfit") focusAct(request, "wrong");
}

function refuse(review: Review): void {
  if (!hasCode(review)) return;
  const message = review.draft.refusal?.trim();
  review.send("reject", { decision: "reject", ...(message ? { message } : {}) });
}

function reply(review: Review): void {
  const message = review.draft.reply?.trim();
  if (message) review.send("response", { decision: "response", message });
  else review.setTried(true);
}

function answer(review: Review): void {
  const { request } = review;
  if (!mayAnswer(request)) return;
  const missing = missingIn(review);
  if (missing.length > 0) {
    review.setTried(true);
    focusAct(request, "missing");
  } else if (hasCode(review)) {
    review.send("answer", answerIn(review));
  }
}

function hasCode(review: Review): boolean {
  if (review.code === null || review.typed === review.code) return true;
  review.setTried(true);
  focusAct(review.request, "code");
  return false;
}

function answerIn({ request, draft, secrets, save }: Review): JsonObject {
  switch (request.kind) {
    case "decision":
      return decisionValue(request, draft);
    case "env_var":
      return variablesValue(variablesOf(request), { ...draft.values, ...Object.fromEntries(secrets.current) }, save);
    default:
      if (isFree(request)) return freeValue(draft.free ?? NOTHING);
      return questionsValue(request, questionsOf(request), draft);
  }
}

/** What is left out, by place or by name. */
function missingIn({ request, draft, secrets }: Review): (number | string)[] {
  switch (request.kind) {
    case "approval":
      return [];
    case "decision":
      return picked(pickAt(draft, 0)) === null ? [0] : [];
    case "env_var":
      return missingValues(variablesOf(request), { ...draft.values, ...Object.fromEntries(secrets.current) });
    default:
      if (isFree(request)) return chosen(draft.free ?? NOTHING).state === "chosen" ? [] : [0];
      return missingAnswers(questionsOf(request), draft);
  }
}

function open(review: Review, mode: Mode): void {
  review.forget();
  review.setTried(false);
  review.arm(null);
  // What was to be allowed from now on must not turn into what is refused from now on.
  if (mode === "refuse") review.setKept(null);
  review.setMode(mode);
}

/** What was written stays, as a draft. */
function close(review: Review): void {
  const { mode, request } = review;
  review.forget();
  review.arm(null);
  review.setTried(false);
  if (mode === "look") return;
  if (mode === "refuse") review.setKept(null);
  review.setMode("look");
  focusAct(request, mode);
}

/** It is not answered over another one's claim. A form that was open takes the focus itself. */
function goBack({ request, mode, dropOver }: Review): void {
  dropOver();
  if (mode === "look") focusAct(request, "title");
}

function discard(review: Review): void {
  review.setDraft((before) => ({ ...before, args: undefined }));
  review.setEdit(null);
  close(review);
}

function showNew(review: Review): void {
  review.forget();
  review.showNew();
  focusAct(review.request, "run");
}

const PLACES: Readonly<Record<string, string>> = {
  missing: "[data-missing] input, [data-missing] textarea, [aria-invalid=true], fieldset input",
  title: "h1, h2 a",
  wrong: "[data-wrong] input, [data-wrong] textarea, [aria-invalid=true]",
};

/** Moves the focus, once what was changed is on the page. */
export function focusAct(request: Pick<InboxRequest, "request_id">, act: string): void {
  requestAnimationFrame(() => {
    const root = `[data-review="${CSS.escape(request.request_id)}"]`;
    const places = (PLACES[act] ?? `[data-act="${act}"]`).split(", ");
    for (const place of places) {
      const found = document.querySelector<HTMLElement>(`${root} ${place}`);
      if (found) return found.focus();
    }
  });
}
