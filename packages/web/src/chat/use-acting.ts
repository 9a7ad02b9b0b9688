/** What a person does in a conversation, and what they are told when it does not work. */
import { NetworkError } from "interlock-client/errors";
import { sleep } from "interlock-client/waiting";
import { useCallback, useEffect, useRef, useState } from "react";
import { arrived, say, stop, tryAgain } from "./sending";
import type { Action } from "./state/conversation";
import type { Conversation } from "./state/model";

/** What was taken shows in the history within a moment; so often it is looked for. */
const LOOKS = 4;
const PAUSE = 1_000;

export type Trouble = { about: "send" | "stop" | "continue"; message: string } | { about: "lost" };

export interface Acting {
  trouble: Trouble | null;
  /** `false`: it was not taken, and belongs back into its field. */
  send: (text: string) => Promise<boolean>;
  stop: () => void;
  again: () => void;
  isContinuing: boolean;
}

/** `reload`: what waits may be something else than is shown. */
export function useActing(
  thread: string,
  conversation: Conversation,
  act: (action: Action) => void,
  reload: () => void,
): Acting {
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [isContinuing, setContinuing] = useState(false);
  const leaving = useLeaving();
  const { turns, earlier } = conversation;
  const said = earlier.filter((one) => one.role === "user").length + turns.length;

  const send = async (text: string): Promise<boolean> => {
    setTrouble(null);
    act({ type: "said", text });
    try {
      await say(thread, text);
    } catch (error) {
      if (!(error instanceof NetworkError)) return notSent({ about: "send", message: messageOf(error) });
      act({ type: "unsure" });
      if (!(await found(thread, text, said, leaving()))) return notSent({ about: "lost" });
    }
    act({ type: "sent" });
    return true;
  };
  const notSent = (why: Trouble): boolean => {
    act({ type: "notSent" });
    setTrouble(why);
    return false;
  };
  const again = async () => {
    setTrouble(null);
    setContinuing(true);
    try {
      await tryAgain(thread);
      act({ type: "continued" });
    } catch (error) {
      setTrouble({ about: "continue", message: messageOf(error) });
    }
    setContinuing(false);
  };
  const stopNow = useStop(thread, conversation, { act, reload, setTrouble });
  return { trouble, send, stop: stopNow, again: () => void again(), isContinuing };
}

function useStop(
  thread: string,
  { phase, isStopping }: Conversation,
  does: { act: (action: Action) => void; reload: () => void; setTrouble: (trouble: Trouble | null) => void },
): () => void {
  const { act, reload, setTrouble } = does;
  return useCallback(() => {
    if (phase === "idle" || isStopping) return;
    setTrouble(null);
    act({ type: "stopping" });
    const notStopped = () => act({ type: "notStopped" });
    const told = (isStopped: boolean) => {
      if (isStopped) return;
      notStopped();
      reload();
    };
    stop(thread).then(told, (error: unknown) => {
      notStopped();
      setTrouble({ about: "stop", message: messageOf(error) });
    });
  }, [thread, phase, isStopping, act, reload, setTrouble]);
}

/** A signal for whatever goes on while this is on the page. */
function useLeaving(): () => AbortSignal {
  const leaving = useRef(new AbortController());
  useEffect(() => {
    leaving.current = new AbortController();
    return () => leaving.current.abort();
  }, []);
  return () => leaving.current.signal;
}

/** Whether a message of which that is not known did arrive. It is asked until the server answers. */
async function found(thread: string, text: string, count: number, signal: AbortSignal): Promise<boolean> {
  for (let looks = 0; looks < LOOKS; ) {
    try {
      if (await arrived(thread, text, count, signal)) return true;
      looks += 1;
    } catch (error) {
      if (!(error instanceof NetworkError)) return false;
    }
    await sleep(PAUSE, signal).catch(() => undefined);
    if (signal.aborted) return false;
  }
  return false;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
