/** What the tool of a decision gave: it stands in the conversation's log, not in the audit trail. */
import { useQuery } from "@tanstack/react-query";
import type { ChatEvent, ToolEnd } from "interlock-client/events";
import { followAll } from "@/chat/stream";
import { useLocale } from "@/i18n/provider";

/** The log is told in one go: what has not come by then is not in it. */
const LONGEST = 3_000;

/** `null`: the log tells nothing of it. */
export function useResult(conversation: string, requestId: string, callId: string) {
  const locale = useLocale();
  return useQuery({
    queryKey: ["history", "result", requestId, callId],
    enabled: callId !== "",
    queryFn: ({ signal }) => searched(conversation, new Sought(requestId, callId), locale, signal),
  });
}

async function searched(
  conversation: string,
  sought: Sought,
  locale: string,
  leaving: AbortSignal,
): Promise<ToolEnd | null> {
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(LONGEST)]);
  try {
    for await (const event of followAll(conversation, { locale, signal })) {
      if (sought.isFoundIn(event)) break;
    }
  } catch (error) {
    if (leaving.aborted || !signal.aborted) throw error;
  }
  return sought.end;
}

/** The end of the call that a request was about. There are models that use the id of a call again. */
export class Sought {
  end: ToolEnd | null = null;
  #isAsked = false;

  constructor(
    readonly requestId: string,
    readonly callId: string,
  ) {}

  /** Whether this is surely it; where a grant answered, nobody was asked, and the first one is taken for it. */
  isFoundIn(event: ChatEvent): boolean {
    if (event.type === "interrupt") this.#isAsked ||= event.requests.some((one) => one.request_id === this.requestId);
    if (event.type !== "tool/end" || event.call_id !== this.callId) return false;
    if (this.#isAsked || this.end === null) this.end = event;
    return this.#isAsked;
  }
}
