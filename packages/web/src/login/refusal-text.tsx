import { useEffect, useState } from "react";
import { useTranslations } from "use-intl";
import styles from "./login.module.css";
import type { Refusal } from "./refusal";

interface Props {
  id: string;
  refusal: Refusal | null;
  isWaiting: boolean;
}

/** What was wrong and what to do about it. */
export function RefusalText({ id, refusal, isWaiting }: Props) {
  return (
    <div id={id} role="alert">
      {refusal && (
        <p className={styles.refusal}>
          <Words refusal={refusal} isWaiting={isWaiting} />
          {refusal.type === "wrong" && <code className={styles.inline}> interlock users reset NAME</code>}
        </p>
      )}
    </div>
  );
}

function Words({ refusal, isWaiting }: { refusal: Refusal; isWaiting: boolean }) {
  const t = useTranslations("login.error");
  if (refusal.type === "other") return t("other", { message: refusal.message });
  // No countdown: it would be read aloud with every second.
  if (refusal.type === "limited") return isWaiting ? t("limited", { seconds: refusal.seconds }) : t("limitedOver");
  return t(refusal.type);
}

/** Whether there is nothing to do but to wait. */
export function useIsWaiting(refusal: Refusal | null): boolean {
  const until = refusal?.type === "limited" ? refusal.until : 0;
  const [over, setOver] = useState(0);
  useEffect(() => {
    if (!until) return;
    const timer = setTimeout(() => setOver(until), until - Date.now());
    return () => clearTimeout(timer);
  }, [until]);
  return until > 0 && over !== until;
}
