import { useTranslations } from "use-intl";
import { RequestPage } from "@/request/request-page";
import { SIDE_BY_SIDE, useMedia } from "@/shell/media";
import { usePendingCount } from "@/shell/pending-count";
import { FirstActFollower, FirstActNote } from "./first-act/note";
import styles from "./inbox.module.css";
import { ListPane } from "./list-pane";

/** The list and the request side by side; where there is no room for both, the request takes the place of the list. */
export function InboxPage({ requestId }: { requestId?: string | undefined }) {
  const isWide = useMedia(SIDE_BY_SIDE);
  return (
    <div className={styles.inbox}>
      {(isWide || !requestId) && <ListPane openId={requestId ?? null} />}
      {(isWide || requestId) && (
        <div className={styles.pane}>
          {requestId && <FirstActNote requestId={requestId} />}
          {requestId ? <RequestPage key={requestId} id={requestId} /> : <Hint />}
        </div>
      )}
      <FirstActFollower />
    </div>
  );
}

function Hint() {
  const t = useTranslations("inbox.hint");
  const count = usePendingCount();
  return (
    <div className={styles.hint}>
      <p>{count === 0 ? t("wait") : t("pick")}</p>
      <p>{t.rich("keys", { key: (name) => <kbd>{name}</kbd> })}</p>
    </div>
  );
}
