import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Conversations } from "interlock-client/inbox";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { usePerson } from "@/api/session";
import { get } from "@/api/transport";
import { beginThread, beginWith, say } from "@/chat/sending";
import { addressOf, THREADS, useAgents } from "@/chat/threads";
import { Button } from "@/design/button";
import styles from "./first-act.module.css";
import { dismiss, type FirstAct, isDismissed, setFirstAct, useFirstAct } from "./store";

/** The agent that comes with the server. */
const DEMO = "demo";
const LOOK = 1_000;

const file = (name: ReactNode) => <code>{name}</code>;

/** For somebody who has decided nothing yet: the first act, on one button. */
export function FirstActGuide() {
  const t = useTranslations("inbox.firstAct");
  const { user_id: userId } = usePerson();
  const agents = useAgents();
  const [isGone, setGone] = useState(() => isDismissed(userId));
  if (isGone || !agents.data) return null;
  if (!agents.data.agents.some(({ name }) => name === DEMO)) {
    return <p className={styles.text}>{t.rich("noDemo", { chat: (words) => <Link href="/chat">{words}</Link> })}</p>;
  }
  const go = () => {
    dismiss(userId);
    setGone(true);
  };
  return <Guide onDismiss={go} />;
}

function Guide({ onDismiss }: { onDismiss: () => void }) {
  const t = useTranslations("inbox.firstAct");
  return (
    <section className={styles.guide} aria-labelledby="first-act">
      <h2 id="first-act">{t("title")}</h2>
      <p>{t.rich("what", { file })}</p>
      <ol className={styles.steps} aria-label={t("steps")}>
        <li>{t.rich("ask", { file })}</li>
        <li>{t("decide")}</li>
        <li>{t("see")}</li>
      </ol>
      <Beginning onDismiss={onDismiss} />
    </section>
  );
}

function Beginning({ onDismiss }: { onDismiss: () => void }) {
  const t = useTranslations("inbox.firstAct");
  const act = useFirstAct();
  const { begin, isBusy, trouble } = useBeginning();
  const isWaiting = act !== null && act.end === null;
  useEndWithoutAsking(act);
  const chat = (words: ReactNode) => <Link href={addressOf(act?.thread ?? "")}>{words}</Link>;
  return (
    <>
      <div role="status">
        {isWaiting && <p>{t("waiting")}</p>}
        {act?.end && <p>{t.rich("ended", { chat })}</p>}
      </div>
      {trouble !== null && (
        <p role="alert" className={styles.trouble}>
          {t("failed", { message: trouble })}
        </p>
      )}
      <div className={styles.acts}>
        <Button look="primary" onClick={begin} disabled={isBusy || isWaiting}>
          {isBusy ? t("asking") : t("act")}
        </Button>
        <Button look="quiet" onClick={onDismiss}>
          {t("dismiss")}
        </Button>
      </div>
    </>
  );
}

/** Nothing tells this page of a run that ends without a question: it is looked for while one is waited for. */
function useEndWithoutAsking(act: FirstAct | null): void {
  const isWaiting = act !== null && act.request === null && act.end === null;
  const { data } = useQuery({
    queryKey: ["first-act", act?.thread],
    queryFn: ({ signal }) => get<Conversations>("/api/v1/inbox/conversations", { page_size: 50 }, signal),
    enabled: isWaiting,
    refetchInterval: LOOK,
  });
  const state = data?.conversations.find((one) => one.conversation_id === act?.thread);
  const isOver = isWaiting && state?.state === "idle" && state.message_count > 0;
  useEffect(() => {
    if (isOver && act) setFirstAct({ ...act, end: "ended" });
  }, [isOver, act]);
}

function useBeginning() {
  const t = useTranslations("inbox.firstAct");
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const begin = async () => {
    setBusy(true);
    setTrouble(null);
    try {
      const thread = await beginThread(DEMO);
      // Before it is said: the answer may be quicker than this page.
      setFirstAct({ thread, request: null, end: null });
      await say(thread, t("said"));
      beginWith(thread, t("said"));
      void client.invalidateQueries({ queryKey: THREADS });
    } catch (error) {
      setFirstAct(null);
      setTrouble(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return { begin: () => void begin(), isBusy, trouble };
}
