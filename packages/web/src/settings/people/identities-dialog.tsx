/** With which identities somebody signs in by single sign-on, for admins to change. */
import type { PersonEntry } from "interlock-client/wire";
import { type FormEvent, useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Field } from "@/design/field";
import { Revealed } from "@/text/revealed";
import lists from "../settings.module.css";
import { useLink, useUnlinkOf } from "./api";
import { TroubleText } from "./trouble-text";

export function IdentitiesDialog({ person, onClose }: { person: PersonEntry; onClose: () => void }) {
  const t = useTranslations("settings.people");
  const link = useLink(person);
  const unlink = useUnlinkOf(person);
  const [subject, setSubject] = useState("");
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (subject.trim() && !link.isPending) link.mutate(subject.trim(), { onSuccess: () => setSubject("") });
  };
  return (
    <Dialog title={t("identitiesTitle", { name: person.username })} onClose={onClose}>
      <p>{t("identitiesWhat")}</p>
      <ul className={lists.list}>
        {(person.identities ?? []).map((one) => (
          <li key={one.id} className={lists.item}>
            <div className={lists.about}>
              <p className={lists.main}>
                <Revealed text={one.label || one.subject} />
              </p>
              <p className={lists.facts}>
                <span>
                  <Revealed text={one.subject} />
                </span>
              </p>
            </div>
            <Button
              aria-label={t("of", { act: t("unlink"), name: one.label || one.subject })}
              onClick={() => unlink.mutate(one.id)}
              disabled={unlink.isPending}
            >
              {t("unlink")}
            </Button>
          </li>
        ))}
      </ul>
      <form onSubmit={send} className={lists.form}>
        <Field
          label={t("subject")}
          rule={t("subjectRule")}
          value={subject}
          autoComplete="off"
          onChange={(event) => setSubject(event.target.value)}
        />
        <TroubleText error={link.error ?? unlink.error} name={person.username} />
        <div className={lists.actions}>
          <Button onClick={onClose}>{t("close")}</Button>
          <Button type="submit" look="primary" aria-disabled={link.isPending}>
            {t("link")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
