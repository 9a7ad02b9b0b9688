import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import { useConnection, useLive, useLiveEvents } from "@/api/live-context";
import { useLocale } from "@/i18n/provider";
import { Feed } from "./feed";
import { begunWith, forgetBegun } from "./sending";
import { type Action, conversed } from "./state/conversation";
import { type Conversation, EMPTY } from "./state/model";

export interface Opened {
  conversation: Conversation;
  act: (action: Action) => void;
  state: "opening" | "ready" | "deleted" | "failed";
  error: Error | null;
  /** Whether what happens is heard of right now. */
  isConnected: boolean;
  /** What waits is asked for again. */
  reload: () => void;
  /** After it could not be opened. */
  again: () => void;
}

/** A thread, open on this page. Another thread needs another component. */
export function useConversation(thread: string): Opened {
  const locale = useLocale();
  const [conversation, act] = useReducer(conversed, EMPTY);
  const [{ state, error }, setState] = useState<Pick<Opened, "state" | "error">>({ state: "opening", error: null });
  const [isConnected, setConnected] = useState(false);
  const [tries, setTries] = useState(0);
  const feed = useRef<Feed | null>(null);
  const live = useLive();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try is another feed
  useEffect(() => {
    const opened = new Feed(thread, locale, {
      act,
      ready: () => setState({ state: "ready", error: null }),
      connected: setConnected,
      signedIn: live.reopened,
      deleted: () => setState({ state: "deleted", error: null }),
      failed: (trouble) => setState({ state: "failed", error: trouble }),
    });
    feed.current = opened;
    opened.open(begunWith(thread));
    return () => opened.close();
  }, [thread, locale, live, tries]);
  const isFirstOver = conversation.turns[0]?.isOver ?? false;
  useEffect(() => {
    if (isFirstOver) forgetBegun(thread);
  }, [thread, isFirstOver]);
  useOthers(thread, conversation, act, feed);
  const again = useCallback(() => {
    setState({ state: "opening", error: null });
    setTries((before) => before + 1);
  }, []);
  const reload = useCallback(() => void feed.current?.readOpen(), []);
  const { state: network } = useConnection();
  return { conversation, act, state, error, isConnected: isConnected && network !== "offline", reload, again };
}

/** What happens elsewhere: answers, and messages of which the stream tells only what came of them. */
function useOthers(
  thread: string,
  { turns, phase }: Conversation,
  act: (action: Action) => void,
  feed: { current: Feed | null },
): void {
  const isUnknown = turns.some((turn) => turn.user === null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked up when a turn begins, and again when it ends
  useEffect(() => {
    if (isUnknown) void feed.current?.readMessages();
  }, [isUnknown, phase, turns.length]);
  useLiveEvents((event) => {
    if (event.type === "settled" && event.settled.conversation_id === thread) {
      act({ type: "settled", requestId: event.settled.request_id });
    }
    if (event.type === "hello" || event.type === "reset") void feed.current?.readOpen();
  });
}
