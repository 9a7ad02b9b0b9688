import type { AnswerPage as Answered, PageMessage } from "interlock-client/wire";
import { useEffect, useState } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { Button } from "@/design/button";
import { Mark } from "@/design/mark";
import frame from "@/login/login.module.css";
import { Loading } from "@/shell/loading";
import { PageTitle } from "@/shell/page-title";
import { useFragment } from "@/shell/use-fragment";
import styles from "./answer.module.css";
import { takeLink, useAnswerLink } from "./link";

/** Where a mail leads whose person wants to answer without a sign-in. Nothing happens before a button is pressed. */
export function AnswerPage() {
  const link = useFragment(takeLink);
  return <OfLink key={link} link={link} />;
}

function OfLink({ link }: { link: string }) {
  const t = useTranslations("answer");
  const [page, setPage] = useState<Answered | null>(null);
  const acting = useAnswerLink(link);
  const show = (given: Answered) => setPage((before) => ({ ...given, message: shownNow(given, before) }));
  const act = (button: string) => acting.mutate(button, { onSuccess: show });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is opened
  useEffect(() => {
    if (link) act("");
  }, []);
  return (
    <main className={frame.page}>
      <div className={frame.card}>
        <p className={frame.brand}>
          <Mark size={24} /> Interlock
        </p>
        {!page && acting.isPending && <Loading />}
        {!page && !acting.isPending && !acting.error && <PageTitle name="over">{t("over")}</PageTitle>}
        {page && <Shown page={page} isBusy={acting.isPending} onAct={act} />}
        <div role="alert">
          {acting.error && <p className={frame.refusal}>{t("failed", { message: acting.error.message })}</p>}
        </div>
        {!page && acting.error && <Button onClick={() => act("")}>{t("again")}</Button>}
      </div>
    </main>
  );
}

/** What is shown stays where the server says no more than a sentence about it, and the call while a yes is asked again. */
function shownNow({ outcome, message }: Answered, before: Answered | null): PageMessage | null {
  const last = before?.message ?? null;
  if (!message) return last;
  return outcome === "asked_again" ? { ...message, text: message.text ?? last?.text ?? null } : message;
}

const OPEN = new Set(["asked_again", "claimed"]);

interface Props {
  page: Answered;
  isBusy: boolean;
  onAct: (button: string) => void;
}

function Shown({ page, isBusy, onAct }: Props) {
  const t = useTranslations("answer");
  const { message, outcome, text } = page;
  if (!message)
    return (
      <>
        <PageTitle name="over">{t("over")}</PageTitle>
        <p role="status">{text}</p>
        <Link to="/inbox">{t("toPage")}</Link>
      </>
    );
  const buttons = OPEN.has(outcome) ? message.buttons : [];
  return (
    <>
      <PageTitle name={message.title}>{message.title}</PageTitle>
      <p role="status">{text !== message.title && text}</p>
      <Words message={message} />
      <div className={styles.acts}>
        {buttons.map((one) => (
          <Button
            key={one.token}
            look={one.is_yes ? "primary" : one.is_no ? "danger" : "plain"}
            aria-disabled={isBusy}
            onClick={() => !isBusy && onAct(one.token)}
          >
            {one.label}
          </Button>
        ))}
      </div>
      <Link to={`/requests/${encodeURIComponent(message.request_id)}`}>{t("toPage")}</Link>
    </>
  );
}

function Words({ message }: { message: PageMessage }) {
  const t = useTranslations("answer");
  return (
    <>
      <dl className={styles.rows}>
        {message.rows.map((row) => (
          <div key={row.label}>
            <dt>{row.label}</dt>
            <dd>{row.value}</dd>
          </div>
        ))}
      </dl>
      {message.text !== null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <section className={styles.whole} aria-label={t("whole")} tabIndex={0}>
          {message.text}
        </section>
      )}
      {message.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </>
  );
}
