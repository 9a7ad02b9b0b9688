import { InterlockError } from "interlock-client/errors";
import { type FormEvent, useId, useState } from "react";
import { useTranslations } from "use-intl";
import { usePerson } from "@/api/session";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Field } from "@/design/field";
import { useAnnounce } from "@/shell/announcer";
import { fieldMessage } from "../problems";
import { LONGEST_COMMENT, useNames, usePassOn } from "./api";
import styles from "./team.module.css";

/** To somebody who may be asked for it anyway. */
export function PassOnDialog({ requestId, onClose }: { requestId: string; onClose: () => void }) {
  const t = useTranslations("request.team");
  const announce = useAnnounce();
  const passing = usePassOn(requestId);
  const [to, setTo] = useState("");
  const [note, setNote] = useState("");
  const id = useId();
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!to.trim() || passing.isPending) return;
    const done = () => {
      announce(t("passedOn", { name: to.trim() }));
      onClose();
    };
    passing.mutate({ to: to.trim(), note: note.trim() }, { onSuccess: done });
  };
  return (
    <Dialog title={t("passOnTitle")} onClose={onClose}>
      <form onSubmit={send} className={styles.form}>
        <p className={styles.text}>{t("passOnWhat")}</p>
        <NameField to={to} onTo={setTo} wrong={wrongWith(passing.error, t)} />
        <label htmlFor={id} className={styles.label}>
          {t("note")}
        </label>
        <textarea
          id={id}
          rows={3}
          maxLength={LONGEST_COMMENT}
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
        <div className={styles.end}>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button type="submit" look="primary" aria-disabled={!to.trim() || passing.isPending}>
            {t("passOnDo")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function NameField({ to, onTo, wrong }: { to: string; onTo: (to: string) => void; wrong: string | null }) {
  const t = useTranslations("request.team");
  const { username } = usePerson();
  const names = useNames(to.trim());
  const list = useId();
  return (
    <>
      <Field
        label={t("to")}
        value={to}
        list={list}
        maxLength={64}
        autoComplete="off"
        wrong={wrong}
        onChange={(event) => onTo(event.target.value)}
      />
      <datalist id={list}>
        {(names.data ?? [])
          .filter((name) => name !== username)
          .map((name) => (
            <option key={name} value={name} />
          ))}
      </datalist>
    </>
  );
}

function wrongWith(error: Error | null, t: ReturnType<typeof useTranslations<"request.team">>): string | null {
  if (!error) return null;
  if (fieldMessage(error, "to")) return t("toUnknown");
  if (error instanceof InterlockError && error.code === "forbidden") return t("toOthers");
  return t("failed", { message: error.message });
}
