import type { Answer, InboxRequest } from "interlock-client/inbox";
import { type JsonObject, textOf } from "interlock-client/json";
import { useEffect, useRef, useState } from "react";
import { serverNow } from "@/api/clock";
import { type Act, deliveries } from "./api/deliveries";
import { useDelivery } from "./api/use-delivery";
import { addressOf } from "./api/use-request";
import { answerOf, type Circumstances } from "./model/answers";
import type { Draft } from "./model/drafts";
import { claimAt } from "./model/people";
import type { Kept } from "./model/remember";

interface Given {
  act: Act;
  answer: Answer;
}

/** An answer to what somebody else has: it is sent once its sender has said that they know of it. */
export interface OverClaim extends Given {
  by: string;
  until: string;
}

interface Shown {
  request: InboxRequest;
  /** Another text when something else is shown. */
  shown: string;
  kept: Kept;
  draft: Draft;
  how: () => Circumstances;
}

/** How it is sent, and that what the server said of it has been seen. */
export function useSending({ request, shown, kept, draft, how }: Shown) {
  const id = request.request_id;
  const [over, setOver] = useState<OverClaim | null>(null);
  const last = useRef<Given | null>(null);
  const give = (given: Given) => {
    last.current = given;
    void deliveries.send(id, `${addressOf(id)}/answer`, given.answer, given.act);
  };
  const send = (act: Act, value: JsonObject) => {
    const keeps = act === "accept" || act === "reject" ? kept : null;
    const given = { act, answer: answerOf(request, value, { ...how(), kept: keeps }) };
    const claim = claimAt(request, serverNow());
    if (claim && !claim.mine) setOver({ ...given, by: claim.by, until: claim.until });
    else give(given);
  };
  /** Alone, over whoever has it: where the server lets an admin. */
  const override = (reason: string) => {
    const answer = answerOf(request, { decision: "accept" }, how());
    give({ act: "accept", answer: { ...answer, override: { reason } } });
  };
  const dismiss = () => {
    const reason = draft.dismissal?.trim();
    void deliveries.send(id, `${addressOf(id)}/cancel`, reason ? { reason } : {}, "cancel");
  };
  const confirmOver = () => {
    if (!over) return;
    setOver(null);
    give({ act: over.act, answer: { ...over.answer, over_claim: true } });
  };
  useUnknownClaim(id, last, setOver);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it was an answer to what was shown
  useEffect(() => setOver(null), [shown]);
  return {
    send,
    override,
    dismiss,
    over,
    confirmOver,
    dropOver: () => setOver(null),
    forget: () => deliveries.forget(id),
  };
}

/** The server knew of a claim that this page had not heard of yet. */
function useUnknownClaim(id: string, last: { current: Given | null }, ask: (over: OverClaim) => void): void {
  const delivery = useDelivery(id);
  const newest = useRef(ask);
  useEffect(() => {
    newest.current = ask;
  });
  useEffect(() => {
    if (delivery?.state !== "refused" || delivery.error.code !== "claimed" || !last.current) return;
    const { claimed_by: by, claimed_until: until } = delivery.error.details;
    newest.current({ ...last.current, by: textOf(by), until: textOf(until) });
    deliveries.forget(id);
  }, [delivery, id, last]);
}
