import { useQuery } from "@tanstack/react-query";
import type { History, HistoryEntry } from "interlock-client/inbox";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { get } from "@/api/transport";
import { Button } from "@/design/button";
import { useMoment } from "@/request/moment";
import { NotifyButton } from "@/shell/notify-button";
import { usePendingCount } from "@/shell/pending-count";
import { Revealed } from "@/text/revealed";
import { FirstActGuide } from "./first-act/guide";
import styles from "./inbox.module.css";

/** Nothing waits: what was last decided, or where to begin. */
export function NothingWaits() {
  const t = useTranslations("inbox.empty");
  const history = useQuery({
    queryKey: ["last-decision"],
    queryFn: ({ signal }) => get<History>("/api/v1/history", { limit: 1 }, signal),
    gcTime: 0,
  });
  const last = history.data?.entries[0];
  return (
    <div className={styles.empty}>
      <p className={styles.good}>
        <span aria-hidden="true">✓</span> {t("nothing")}
      </p>
      {last && <Last entry={last} />}
      {history.data && !last && <FirstActGuide />}
      <NotifyButton />
    </div>
  );
}

function Last({ entry }: { entry: HistoryEntry }) {
  const t = useTranslations("inbox");
  const kinds = useTranslations("shell.kind");
  const moment = useMoment();
  const what = entry.tool ? (
    <code>
      <Revealed text={entry.tool} />
    </code>
  ) : (
    kinds(entry.kind)
  );
  const told = { what: () => what, outcome: t(`outcome.${entry.outcome}`), time: moment(entry.at) };
  return (
    <p className={styles.text}>
      {t.rich("empty.last", told)} <Link href={`/requests/${entry.request_id}`}>{t("empty.look")}</Link>
    </p>
  );
}

export function NoMatch({ onClear }: { onClear: () => void }) {
  const t = useTranslations("inbox");
  const count = usePendingCount();
  return (
    <div className={styles.empty}>
      <p className={styles.text}>{count ? t("empty.noMatch", { count }) : t("empty.noMatchNone")}</p>
      <Button onClick={onClear}>{t("clear")}</Button>
    </div>
  );
}
