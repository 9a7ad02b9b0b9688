import { type ReactNode, useEffect, useId, useRef } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Heading } from "@/design/outline";
import { Wrong } from "../forms/agent-text";
import { FoldedRemember } from "../forms/folded-remember";
import { namesIn } from "../names";
import { fieldMessage } from "../problems";
import { useReview } from "../review";
import { useActions } from "../use-actions";
import { useHints } from "../use-hints";
import styles from "./bar.module.css";
import { CodeField } from "./code-field";
import { Problem } from "./problem";

export function RefuseForm() {
  const t = useTranslations("request.bar");
  const { request, draft, setDraft } = useReview();
  const { refuse } = useActions();
  return (
    <ReasonForm
      title={t.rich("refusal.title", namesIn(request))}
      label={t("refusal.reason")}
      text={draft.refusal ?? ""}
      onText={(refusal) => setDraft({ refusal })}
      note={request.allowed.includes("reject") ? null : t("refusal.untold")}
      send={t("refuse")}
      onSend={refuse}
    >
      <FoldedRemember />
    </ReasonForm>
  );
}

export function ReplyForm() {
  const t = useTranslations("request.bar");
  const { request, draft, setDraft, problem, isTried } = useReview();
  const { reply } = useActions();
  const isMissing = isTried && !draft.reply?.trim();
  return (
    <ReasonForm
      title={t.rich("replying.title", namesIn(request))}
      label={t("replying.text")}
      text={draft.reply ?? ""}
      onText={(text) => setDraft({ reply: text })}
      wrong={isMissing ? t("replying.missing") : fieldMessage(problem, "message")}
      send={t("reply")}
      onSend={reply}
    />
  );
}

export function DismissForm() {
  const t = useTranslations("request.bar");
  const { draft, setDraft } = useReview();
  const { dismiss } = useActions();
  return (
    <ReasonForm
      title={t("dismissal.title")}
      label={t("dismissal.reason")}
      text={draft.dismissal ?? ""}
      onText={(dismissal) => setDraft({ dismissal })}
      note={t("dismissal.told")}
      send={t("dismiss")}
      onSend={dismiss}
    />
  );
}

interface Props {
  title: ReactNode;
  label: string;
  text: string;
  onText: (text: string) => void;
  note?: ReactNode;
  wrong?: string | undefined;
  send: string;
  onSend: () => void;
  children?: ReactNode;
}

function ReasonForm({ title, label, text, onText, note, wrong, send, onSend, children }: Props) {
  const t = useTranslations("request.bar");
  const { close } = useActions();
  const hint = useHints();
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  useEffect(() => field.current?.focus(), []);
  return (
    <div className={styles.form}>
      <Problem />
      <Heading className={styles.title}>{title}</Heading>
      {note && <p className={styles.note}>{note}</p>}
      <label htmlFor={id}>{label}</label>
      <textarea
        ref={field}
        id={id}
        rows={2}
        aria-invalid={!!wrong}
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
      <Wrong>{wrong}</Wrong>
      {children}
      <div className={styles.row}>
        <CodeField />
        <Button look="primary" hint={hint("⌘⏎")} data-act="send" onClick={onSend}>
          {send}
        </Button>
        <Button onClick={close}>{t("back")}</Button>
      </div>
    </div>
  );
}
