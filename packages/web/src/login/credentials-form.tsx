import { type FormEvent, type ReactNode, type RefObject, useEffect, useId, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Field } from "@/design/field";
import { PageTitle } from "@/shell/page-title";
import styles from "./login.module.css";
import { misfit, type Refusal } from "./refusal";
import { RefusalText, useIsWaiting } from "./refusal-text";

export interface Credentials {
  username: string;
  password: string;
}

interface Props {
  title: string;
  note?: string;
  act: string;
  /** A new account: its password is asked for twice, and the rules are said beforehand. */
  isNew: boolean;
  /** Without one there is a name only. */
  withPassword?: boolean;
  refusal: Refusal | null;
  isSending: boolean;
  onSend: (credentials: Credentials) => void;
  onRefused: (refusal: Refusal) => void;
  children?: ReactNode;
}

/** A name and a password, for whatever way of signing in. */
export function CredentialsForm(props: Props) {
  const { title, note, isNew, withPassword = true, refusal, isSending } = props;
  const t = useTranslations("login");
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const isWaiting = useIsWaiting(refusal);
  useFirstField(form);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isSending || isWaiting || !form.current) return;
    const given = new FormData(form.current);
    const typed = (name: string) => String(given.get(name) ?? "");
    const password = typed("password");
    const wrong = misfit(password, isNew ? typed("repeat") : null);
    if (wrong) props.onRefused(wrong);
    else props.onSend({ username: typed("username").trim(), password });
  };
  return (
    <form ref={form} className={styles.form} onSubmit={submit} aria-describedby={id}>
      <PageTitle name={title}>{title}</PageTitle>
      {note && <p className={styles.text}>{note}</p>}
      <RefusalText id={id} refusal={refusal} isWaiting={isWaiting} />
      <Fields isNew={isNew} withPassword={withPassword} />
      <Button type="submit" look="primary" aria-disabled={isSending || isWaiting}>
        {isSending ? t("signingIn") : props.act}
      </Button>
      {props.children}
    </form>
  );
}

function Fields({ isNew, withPassword }: { isNew: boolean; withPassword: boolean }) {
  const t = useTranslations("login");
  const [isShown, setShown] = useState(false);
  const type = isShown ? "text" : "password";
  const kept = isNew ? "new-password" : "current-password";
  const rule = (name: "username" | "password") => (isNew ? t(`rules.${name}`) : null);
  if (!withPassword)
    return <Field name="username" label={t("username")} required autoComplete="username" rule={rule("username")} />;
  return (
    <>
      <Field name="username" label={t("username")} required autoComplete="username" rule={rule("username")} />
      <Field name="password" label={t("password")} required type={type} autoComplete={kept} rule={rule("password")} />
      {isNew && <Field name="repeat" label={t("repeat")} required type={type} autoComplete={kept} />}
      <label className={styles.show}>
        <input type="checkbox" checked={isShown} onChange={(event) => setShown(event.target.checked)} />
        {t("show")}
      </label>
    </>
  );
}

/** Who comes here comes to type; the heading is read with the form. */
function useFirstField(form: RefObject<HTMLFormElement | null>): void {
  useEffect(() => form.current?.querySelector("input")?.focus(), [form]);
}
