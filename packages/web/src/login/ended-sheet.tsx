import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { forgetPerson, usePerson, useSignIn, useWelcome } from "@/api/session";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Field } from "@/design/field";
import styles from "./login.module.css";
import { type Refusal, refusalOf } from "./refusal";
import { RefusalText, useIsWaiting } from "./refusal-text";

/**
 * Over the page of somebody whose session has ended: what they have begun stays under it, in the page's memory. It has
 * no field but one for a password, so that whoever was typing a secret goes on behind dots.
 */
export function EndedSheet({ onBack }: { onBack: () => void }) {
  const t = useTranslations("login");
  const client = useQueryClient();
  const { username } = usePerson();
  const welcome = useWelcome();
  const isOnly = welcome.data?.passwords === false;
  return (
    <Dialog title={t("ended.title")} isStuck isCover onClose={() => undefined}>
      <p>{t(isOnly ? "ended.whyOnly" : "ended.why")}</p>
      {!isOnly && <PasswordForm username={username} onBack={onBack} />}
      {/* This page hears of it when somebody has signed in there. */}
      {welcome.data?.sign_on && (
        <p>
          <a href="/login" target="_blank" rel="noopener">
            {t("ended.elsewhere")}
          </a>
        </p>
      )}
      <Button look="quiet" className={styles.leave} onClick={() => forgetPerson(client)}>
        {t("ended.leave")}
      </Button>
    </Dialog>
  );
}

function PasswordForm({ username, onBack }: { username: string; onBack: () => void }) {
  const t = useTranslations("login");
  const client = useQueryClient();
  const signIn = useSignIn();
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const isWaiting = useIsWaiting(refusal);
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (signIn.isPending || isWaiting || !form.current) return;
    const password = String(new FormData(form.current).get("password"));
    try {
      await signIn.mutateAsync({ path: "/session", body: { username, password } });
      onBack();
      void client.invalidateQueries();
    } catch (error) {
      form.current?.reset();
      setRefusal(refusalOf(error, false, Date.now()));
    }
  };
  return (
    <form ref={form} className={styles.form} onSubmit={(event) => void submit(event)} aria-describedby={id}>
      <RefusalText id={id} refusal={refusal} isWaiting={isWaiting} />
      {/* For whoever keeps passwords. */}
      <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
      <Field
        name="password"
        label={t("ended.password", { name: username })}
        required
        type="password"
        autoComplete="current-password"
      />
      <Button type="submit" look="primary" aria-disabled={signIn.isPending || isWaiting}>
        {signIn.isPending ? t("signingIn") : t("signIn")}
      </Button>
    </form>
  );
}
