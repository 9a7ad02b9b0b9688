import { Clock } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { useServerNow } from "@/api/clock";
import { Button } from "@/design/button";
import { useAnnounce } from "@/shell/announcer";
import { left } from "../model/countdown";
import { useReview } from "../review";
import styles from "./head.module.css";

const LAST_CALL = 60_000;

/** How much time is left, by the server's clock, in words and without alarm. */
export function Countdown() {
  const { request, situation } = useReview();
  if (request.status !== "pending" || situation === "receipt" || situation === "deleted") return null;
  return (
    <div className={styles.countdown}>
      <Clock aria-hidden="true" size={14} />
      {request.expires_at ? <Left expiresAt={request.expires_at} /> : <Never />}
      {request.extendable && situation === "open" && <MoreTime />}
    </div>
  );
}

function Never() {
  return useTranslations("request.head.left")("never");
}

function Left({ expiresAt }: { expiresAt: string }) {
  const t = useTranslations("request.head");
  const rest = Date.parse(expiresAt) - useServerNow();
  useLastCall(expiresAt, rest);
  const spelled = left(rest);
  return <span className={styles.left}>{t(`left.${spelled.unit}`, { count: 0, text: "", ...spelled })}</span>;
}

/** Told once for each deadline, and only to those who were there before. */
function useLastCall(expiresAt: string, rest: number): void {
  const t = useTranslations("request.head");
  const announce = useAnnounce();
  const [early, setEarly] = useState<string | null>(null);
  const told = useRef<string | null>(null);
  if (rest > LAST_CALL && early !== expiresAt) setEarly(expiresAt);
  const isLast = early === expiresAt && rest <= LAST_CALL && rest > 0;
  useEffect(() => {
    if (!isLast || told.current === expiresAt) return;
    told.current = expiresAt;
    announce(t("minute"));
  }, [isLast, expiresAt, announce, t]);
}

function MoreTime() {
  const t = useTranslations("request.head");
  const { extend } = useReview();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const ask = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      await extend();
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button look="quiet" className={styles.more} aria-label={t("moreTimeLabel")} aria-disabled={isBusy} onClick={ask}>
        {t("moreTime")}
      </Button>
      {problem && (
        <span role="alert" className={styles.problem}>
          {t("moreTimeFailed", { message: problem })}
        </span>
      )}
    </>
  );
}
