import { type FormEvent, type RefObject, useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { usePerson } from "@/api/session";
import { Button } from "@/design/button";
import { Field } from "@/design/field";
import lists from "../settings.module.css";
import styles from "./account.module.css";
import { useChangePassword } from "./api";
import { fieldOf, type Trouble, troubleOf } from "./trouble";

export function PasswordForm() {
  const t = useTranslations("settings.account.password");
  const { username } = usePerson();
  const form = useRef<HTMLFormElement>(null);
  const { send, trouble, changed, isBusy } = useChanging(form);
  return (
    <section className={styles.section} aria-labelledby="password">
      <h2 id="password">{t("title")}</h2>
      <p className={lists.what}>{t("what")}</p>
      <form ref={form} className={styles.form} onSubmit={send} noValidate>
        {/* For whoever keeps passwords. */}
        <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
        <Fields trouble={trouble} />
        <div className={styles.acts}>
          <Button type="submit" look="primary" aria-disabled={isBusy}>
            {isBusy ? t("changing") : t("change")}
          </Button>
          <p role="status" className={styles.good}>
            {changed !== null && t("changed", { count: changed })}
          </p>
        </div>
      </form>
    </section>
  );
}

function Fields({ trouble }: { trouble: Trouble | null }) {
  const t = useTranslations("settings.account.password");
  const [isShown, setShown] = useState(false);
  const at = trouble && fieldOf(trouble);
  const given = (name: string) => ({
    required: true,
    type: isShown ? "text" : "password",
    wrong: trouble && at === name && <TroubleText trouble={trouble} />,
  });
  return (
    <>
      <Field name="old" label={t("old")} {...given("old")} autoComplete="current-password" />
      <Field name="new" label={t("new")} {...given("new")} autoComplete="new-password" rule={t("rule")} />
      <Field name="repeat" label={t("repeat")} {...given("repeat")} autoComplete="new-password" />
      <label className={lists.check}>
        <input type="checkbox" checked={isShown} onChange={(event) => setShown(event.target.checked)} />
        {t("show")}
      </label>
    </>
  );
}

function TroubleText({ trouble }: { trouble: Trouble }) {
  const t = useTranslations("settings.account.password.error");
  const isOver = useIsOver(trouble.type === "limited" ? trouble.until : 0);
  if (trouble.type === "other") return t("other", { message: trouble.message });
  // No countdown: it would be read aloud with every second.
  if (trouble.type === "limited") return isOver ? t("limitedOver") : t("limited", { seconds: trouble.seconds });
  return t(trouble.type);
}

function useIsOver(until: number): boolean {
  const [over, setOver] = useState(0);
  useEffect(() => {
    if (!until) return;
    const timer = setTimeout(() => setOver(until), until - Date.now());
    return () => clearTimeout(timer);
  }, [until]);
  return over === until;
}

function useChanging(form: RefObject<HTMLFormElement | null>) {
  const changing = useChangePassword();
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const refuse = (found: Trouble) => {
    setTrouble(found);
    const field = form.current?.elements.namedItem(fieldOf(found));
    if (field instanceof HTMLInputElement) field.focus();
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (changing.isPending || !form.current) return;
    const given = new FormData(form.current);
    const [old, next, repeat] = ["old", "new", "repeat"].map((name) => String(given.get(name)));
    changing.reset();
    if (!old) return refuse({ type: "wrong" });
    if (next !== repeat) return refuse({ type: "repeat" });
    setTrouble(null);
    changing.mutate(
      { old_password: old, new_password: next ?? "" },
      {
        onSuccess: () => form.current?.reset(),
        onError: (error) => refuse(troubleOf(error, Date.now())),
      },
    );
  };
  // This page's own session was renewed, and is no other one.
  const changed = changing.data ? changing.data.ended - 1 : null;
  return { send, trouble, changed, isBusy: changing.isPending };
}
