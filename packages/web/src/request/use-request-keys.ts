import type { InboxRequest } from "interlock-client/inbox";
import { useLocation } from "wouter";
import { type Keys, useKeys } from "@/keys/use-keys";
import { useCopy } from "./copy";
import { missingAnswers } from "./model/answers";
import { stroke } from "./model/arming";
import { decisionOf, isFree, questionsOf } from "./model/bodies";
import { type Draft, pickAt, withPick } from "./model/drafts";
import { NOTHING, WAYS } from "./model/free";
import { copyOf, looksOf, nextLook } from "./model/looks";
import { mayRefuse, seesConversation } from "./model/people";
import { siblingOf } from "./model/siblings";
import { type Review, useReview } from "./review";
import { type Actions, focusAct, useActions } from "./use-actions";
import { useAddresses } from "./use-addresses";

/** The letters of a request. On its own page they work everywhere, in a conversation only inside of its card. */
export function useRequestKeys(isEnabled: boolean): void {
  const review = useReview();
  const actions = useActions();
  const [, navigate] = useLocation();
  const { requestAt } = useAddresses();
  const { copy } = useCopy();
  const { request, look } = review;
  const keys: Keys = {
    ...answerKeys(review, actions),
    v: () => review.setLook(nextLook(looksOf(request), look)),
    y: () => void copy(copyOf(request, look)),
    t: () => seesConversation(request) && navigate(`/chat/${encodeURIComponent(request.conversation_id)}`),
    "[": () => go(siblingOf(request, -1), requestAt, navigate),
    "]": () => go(siblingOf(request, 1), requestAt, navigate),
    Escape: actions.close,
  };
  useKeys(keys, isEnabled);
}

/** Those that answer count only while it can be answered, and not for what has just come. */
function answerKeys(review: Review, actions: Actions): Keys {
  if (review.situation !== "open" || review.over) return {};
  const { request } = review;
  const keys: Keys = {};
  if (request.kind === "approval") {
    keys.a = () => approveByKey(review, actions);
    if (mayRefuse(request)) keys.r = () => actions.open("refuse");
    if (request.allowed.includes("edit")) keys.e = () => actions.open("edit");
    if (request.allowed.includes("response")) keys.m = () => actions.open("reply");
  }
  for (let place = 0; place < 9; place += 1)
    keys[String(place + 1)] = () => (isFree(request) ? pickFree : pickByKey)(review, place);
  const guarded = Object.entries(keys).map(([name, act]) => [
    name,
    (event: KeyboardEvent) => {
      if (!review.isLate(event)) act(event);
    },
  ]);
  return Object.fromEntries(guarded) as Keys;
}

function approveByKey(review: Review, actions: Actions): void {
  if (!review.request.allowed.includes("accept") || review.mode !== "look") return;
  if (review.code !== null) focusAct(review.request, "code");
  if (review.obstacle || review.code !== null) return;
  const { armed, approves } = stroke(review.armedAt, performance.now());
  review.arm(armed);
  if (approves) actions.approve();
}

/** The graph's own options first, then yes, no, a text and JSON. */
function pickFree(review: Review, place: number): void {
  const choices = questionsOf(review.request)[0]?.choices ?? [];
  const way = WAYS[place - choices.length];
  const part = place < choices.length ? { way: null, option: choices[place]?.value ?? null } : way && { way };
  if (!part) return;
  review.setDraft((before) => ({ ...before, free: { ...(before.free ?? NOTHING), ...part } }));
  if (way === "text" || way === "json") focusOwn(review.request, 0, place + 1);
}

function pickByKey(review: Review, place: number): void {
  const { request, draft } = review;
  const at = request.kind === "questions" ? questionAt(request, draft) : 0;
  const choices = request.kind === "decision" ? decisionOf(request).choices : (questionsOf(request)[at]?.choices ?? []);
  const choice = choices[place];
  if (choice) {
    review.setDraft((before) => withPick(before, at, { ...pickAt(before, at), choice: choice.value, isOwn: false }));
  } else if (place === choices.length && questionsOf(request)[at]?.takesOwn) {
    review.setDraft((before) => withPick(before, at, { ...pickAt(before, at), isOwn: true }));
    focusOwn(request, at);
  }
}

/** The question that has the focus, else the first without an answer. */
function questionAt(request: InboxRequest, draft: Draft): number {
  const focused = document.activeElement?.closest<HTMLElement>("[data-question]")?.dataset.question;
  return focused === undefined ? (missingAnswers(questionsOf(request), draft)[0] ?? 0) : Number(focused);
}

function focusOwn(request: InboxRequest, at: number, own?: number): void {
  requestAnimationFrame(() => {
    const root = document.querySelector(`[data-review="${CSS.escape(request.request_id)}"]`);
    const within = root?.querySelector(`[data-question="${at}"]`) ?? root;
    within?.querySelector<HTMLElement>(own === undefined ? "[data-own]" : `[data-own="${own}"]`)?.focus();
  });
}

/** To the card of the sibling where there is one on the page, else to its own page. */
function go(id: string | null, requestAt: (id: string) => string, navigate: (path: string) => void): void {
  if (!id) return;
  const card = document.querySelector<HTMLElement>(`[data-review="${CSS.escape(id)}"]`);
  if (card) card.focus();
  else navigate(requestAt(id));
}
