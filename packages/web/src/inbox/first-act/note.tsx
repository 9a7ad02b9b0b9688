import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { Link, useLocation } from "wouter";
import { useLiveEvents } from "@/api/live-context";
import { addressOf } from "@/chat/threads";
import { Button } from "@/design/button";
import styles from "./first-act.module.css";
import { after, setFirstAct, useFirstAct } from "./store";

/** What the agent asks in the first act is opened as soon as it is there; what becomes of it is noted. */
export function FirstActFollower() {
  const act = useFirstAct();
  const [, navigate] = useLocation();
  useLiveEvents((event) => {
    const next = act && after(act, event);
    if (next === act) return;
    setFirstAct(next);
    if (next?.request && next.request !== act?.request) navigate(`/requests/${encodeURIComponent(next.request)}`);
  });
  return null;
}

/** Above the request of the first act: where in it one is. */
export function FirstActNote({ requestId }: { requestId: string }) {
  const t = useTranslations("inbox.firstAct");
  const act = useFirstAct();
  if (act?.request !== requestId) return null;
  const chat = (words: ReactNode) => <Link href={addressOf(act.thread)}>{words}</Link>;
  const words = { answered: t.rich("approvedNote", { chat }), ended: t.rich("endedNote", { chat }) };
  return (
    <section className={styles.note} aria-label={t("note")}>
      <p role="status">
        <strong>{t("step", { number: act.end ? 3 : 2 })}</strong> {act.end ? words[act.end] : t("decideNote")}
      </p>
      <Button look="quiet" onClick={() => setFirstAct(null)}>
        {t("close")}
      </Button>
    </section>
  );
}
