import type { Conversation } from "interlock-client/inbox";
import { CirclePause, Plus } from "lucide-react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { Button } from "@/design/button";
import { useMoment } from "@/request/moment";
import { Failed } from "@/shell/failed";
import { Loading } from "@/shell/loading";
import { Revealed } from "@/text/revealed";
import styles from "./chat-page.module.css";
import { addressOf, listed, talkable, useThreads } from "./threads";

/** The person's conversations, the one last touched first. */
export function ThreadList({ current }: { current: string | null }) {
  const t = useTranslations("chat");
  return (
    <nav className={styles.threads} aria-label={t("threads")}>
      <h2 className={styles.heading}>{t("threads")}</h2>
      <Link href="/chat" className={styles.fresh} aria-current={current === null ? "page" : undefined}>
        <Plus size={16} aria-hidden="true" /> {t("newThread")}
      </Link>
      <Listed current={current} />
    </nav>
  );
}

function Listed({ current }: { current: string | null }) {
  const t = useTranslations("chat");
  const threads = useThreads();
  if (threads.isPending) return <Loading />;
  if (threads.isError) return <Failed error={threads.error} onRetry={() => void threads.refetch()} />;
  const found = talkable(listed(threads.data));
  if (found.length === 0 && !threads.hasNextPage) return <p className={styles.none}>{t("noThreads")}</p>;
  return (
    <>
      <ul className={styles.list}>
        {found.map((entry) => (
          <Row key={entry.conversation_id} entry={entry} isCurrent={entry.conversation_id === current} />
        ))}
      </ul>
      {threads.hasNextPage && (
        <Button look="quiet" disabled={threads.isFetchingNextPage} onClick={() => void threads.fetchNextPage()}>
          {t("more")}
        </Button>
      )}
    </>
  );
}

function Row({ entry, isCurrent }: { entry: Conversation; isCurrent: boolean }) {
  const t = useTranslations("chat");
  const moment = useMoment();
  return (
    <li>
      <Link
        href={addressOf(entry.conversation_id)}
        className={styles.row}
        aria-current={isCurrent ? "page" : undefined}
      >
        <span className={styles.title}>{entry.title ? <Revealed text={entry.title} /> : t("untitled")}</span>
        <span className={styles.meta}>
          {entry.state === "waiting" && (
            <span className={styles.waits}>
              <CirclePause size={12} aria-hidden="true" /> {t("waits")} ·{" "}
            </span>
          )}
          <Revealed text={entry.agent} /> · {moment(entry.updated_at)}
        </span>
      </Link>
    </li>
  );
}
