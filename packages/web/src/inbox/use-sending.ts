import { useCallback, useEffect, useRef, useState } from "react";
import { deliveries } from "@/request/api/deliveries";
import { addressOf } from "@/request/api/use-request";
import { answerOf } from "@/request/model/answers";
import type { Call } from "./batch";

export interface Sending {
  /** Which of how many is on its way; null: none is. */
  at: { place: number; count: number } | null;
  send: (calls: readonly Call[], act: "accept" | "reject", dwell: () => number) => Promise<void>;
  /** No more after the one that is on its way. */
  stop: () => void;
}

/** One by one, each under its own key: what became of one is known before the next one is sent. */
export function useSending(): Sending {
  const [at, setAt] = useState<Sending["at"]>(null);
  const isStopped = useRef(false);
  const stop = useCallback(() => {
    isStopped.current = true;
  }, []);
  useEffect(() => stop, [stop]);
  const send: Sending["send"] = async (calls, act, dwell) => {
    isStopped.current = false;
    for (const [place, { request }] of calls.entries()) {
      if (isStopped.current || !request) break;
      setAt({ place: place + 1, count: calls.length });
      const id = request.request_id;
      const answer = answerOf(request, { decision: act }, { dwell: dwell() });
      // Given up with the session, or without a reply for who knows how long: the rest is for a person to send.
      if (!(await deliveries.send(id, `${addressOf(id)}/answer`, answer, act))) break;
    }
    setAt(null);
  };
  return { at, send, stop };
}
