import { useQueryClient } from "@tanstack/react-query";
import { Forbidden } from "interlock-client/errors";
import type { Conversation } from "interlock-client/inbox";
import { ChevronLeft } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { useTranslations } from "use-intl";
import { Link, useLocation } from "wouter";
import { useAnnounce } from "@/shell/announcer";
import { Failed } from "@/shell/failed";
import { Loading } from "@/shell/loading";
import { PageTitle } from "@/shell/page-title";
import { Revealed } from "@/text/revealed";
import styles from "./chat-page.module.css";
import pane from "./conversation.module.css";
import { ConversationView } from "./conversation-view";
import { DeleteThread } from "./delete-thread";
import { NewConversation } from "./new-conversation";
import { lastTurn, type Conversation as Told } from "./state/model";
import { ThreadList } from "./thread-list";
import { THREADS, threadIn, useThread } from "./threads";
import { type Opened, useConversation } from "./use-conversation";

/** The conversations beside the one that is open; on phones one at a time. */
export function ChatPage() {
  // Only for being drawn again: what it gives is decoded in parts.
  useLocation();
  const thread = threadIn(location.pathname);
  return (
    <div className={styles.page} data-thread={thread !== null}>
      <aside className={styles.aside}>
        <ThreadList current={thread} />
      </aside>
      <div className={styles.main}>
        {thread === null ? <NewConversation /> : <Thread key={thread} thread={thread} />}
      </div>
    </div>
  );
}

function Thread({ thread }: { thread: string }) {
  const opened = useConversation(thread);
  const { act, reload, state } = opened;
  const entry = useThread(thread);
  // Its own log tells that only once it has asked.
  const conversation = entry?.outside ? { ...opened.conversation, isOutside: true } : opened.conversation;
  useAnnouncements(conversation, state === "ready");
  useFreshList(conversation);
  return (
    <div className={pane.pane}>
      <Header {...{ thread, entry, conversation }} canDelete={state === "ready"} />
      {state === "ready" ? (
        <ConversationView {...{ thread, conversation, act, reload }} isConnected={opened.isConnected} />
      ) : (
        <NotOpen opened={opened} />
      )}
    </div>
  );
}

interface Titled {
  entry: Conversation | undefined;
  conversation: Told;
}

function Header(props: Titled & { thread: string; canDelete: boolean }) {
  const t = useTranslations("chat");
  return (
    <header className={pane.header}>
      <Link href="/chat" className={styles.back} aria-label={t("back")}>
        <ChevronLeft size={20} aria-hidden="true" />
      </Link>
      <div className={pane.heading}>
        <PageTitle name={props.thread}>
          <Title {...props} />
        </PageTitle>
      </div>
      {props.canDelete && <DeleteThread thread={props.thread} />}
    </header>
  );
}

/** What the conversation began with. */
function Title({ entry, conversation }: Titled) {
  const t = useTranslations("chat");
  const first = conversation.earlier.find((one) => one.role === "user")?.content ?? conversation.turns[0]?.user;
  const title = entry?.title || first?.split("\n")[0];
  return title ? <Revealed text={title} /> : t("untitled");
}

function NotOpen({ opened: { state, error, again } }: { opened: Opened }) {
  const t = useTranslations("chat");
  if (state === "opening") return <Loading />;
  if (state === "deleted") return <Gone>{t("deleted")}</Gone>;
  if (error instanceof Forbidden) return <Gone>{t("notYours")}</Gone>;
  return <Failed error={error ?? new Error()} onRetry={again} />;
}

function Gone({ children }: { children: ReactNode }) {
  const t = useTranslations("chat");
  return (
    <div className={styles.gone} role="alert">
      <p>{children}</p>
      <Link href="/chat">{t("toChat")}</Link>
    </div>
  );
}

/** Tokens are silent: what is read aloud is that the agent has ended, and how. */
function useAnnouncements(conversation: Told, isReady: boolean): void {
  const t = useTranslations("chat.announce");
  const announce = useAnnounce();
  const before = useRef(conversation.phase);
  const { phase } = conversation;
  const turn = lastTurn(conversation);
  useEffect(() => {
    const hasEnded = isReady && before.current !== "idle" && phase === "idle" && turn?.isOver === true;
    before.current = phase;
    if (!hasEnded) return;
    if (turn.items.at(-1)?.type === "failure") announce(t("failed"));
    else announce(t(turn.isStopped ? "stopped" : "finished"));
  }, [phase, isReady, turn, announce, t]);
}

/** What is said or ends here changes the list. */
function useFreshList({ phase, turns }: Told): void {
  const client = useQueryClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: these are what changes it
  useEffect(() => {
    void client.invalidateQueries({ queryKey: THREADS });
  }, [client, phase, turns.length]);
}
