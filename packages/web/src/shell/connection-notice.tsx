import { useEffect, useState } from "react";
import { useFormatter, useTranslations } from "use-intl";
import { useConnection, useLive } from "@/api/live-context";
import { Button } from "@/design/button";
import { useAnnounce } from "./announcer";
import styles from "./connection.module.css";
import { CLOCK } from "./connection-state";

/** How long it is said that the server is another one. */
const RESTART_SHOWN = 60_000;

/** What a person has to know of the connection. It stands in the bar, so that nothing moves when it comes and goes. */
export function ConnectionNotice() {
  const t = useTranslations("shell");
  const format = useFormatter();
  const live = useLive();
  const { state, since } = useConnection();
  // In this order: that it is another server says more than that it is there again.
  useToldOfLoss();
  const restartedAt = useRestart();
  if (state === "offline") {
    return (
      <p className={`${styles.notice} ${styles.lost}`}>
        <span>{t("offline", { time: format.dateTime(since ?? Date.now(), CLOCK) })}</span>
        <Button className={styles.act} onClick={live.retry}>
          {t("retry")}
        </Button>
      </p>
    );
  }
  if (restartedAt.at === null) return null;
  return (
    <p className={styles.notice}>
      <span>{t("restarted", { time: format.dateTime(restartedAt.at, CLOCK) })}</span>
      <Button className={styles.act} onClick={restartedAt.dismiss}>
        {t("dismiss")}
      </Button>
    </p>
  );
}

/** When the server was started again, until that was read. */
function useRestart(): { at: number | null; dismiss: () => void } {
  const t = useTranslations("shell");
  const format = useFormatter();
  const announce = useAnnounce();
  const { restartedAt } = useConnection();
  const [dismissed, setDismissed] = useState<number | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: told once for each start
  useEffect(() => {
    if (restartedAt === null) return;
    announce(t("restarted", { time: format.dateTime(restartedAt, CLOCK) }));
    const timer = setTimeout(() => setDismissed(restartedAt), RESTART_SHOWN);
    return () => clearTimeout(timer);
  }, [restartedAt]);
  return { at: restartedAt === dismissed ? null : restartedAt, dismiss: () => setDismissed(restartedAt) };
}

function useToldOfLoss(): void {
  const t = useTranslations("shell");
  const format = useFormatter();
  const announce = useAnnounce();
  const { since } = useConnection();
  const [wasLost, setWasLost] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: told once for each loss
  useEffect(() => {
    if (since !== null) announce(t("offline", { time: format.dateTime(since, CLOCK) }), "assertive");
    else if (wasLost) announce(t("back"));
    setWasLost(since !== null);
  }, [since]);
}
