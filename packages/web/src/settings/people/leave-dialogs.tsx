/** What is asked before somebody is kept out, or deleted. */
import type { PersonEntry } from "interlock-client/wire";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Field } from "@/design/field";
import { Name } from "@/request/names";
import lists from "../settings.module.css";
import { useDeletePerson, useSetAllowed } from "./api";
import styles from "./people.module.css";
import { TroubleText } from "./trouble-text";

interface Props {
  person: PersonEntry;
  onDone: () => void;
  onClose: () => void;
}

export function KeepOutDialog({ person, onDone, onClose }: Props) {
  const t = useTranslations("settings.people");
  const setting = useSetAllowed(person);
  return (
    <Dialog title={t("keepTitle", { name: person.username })} onClose={onClose}>
      <p>{t("keepWhat")}</p>
      <TroubleText error={setting.error} name={person.username} />
      <div className={lists.actions}>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button look="danger" disabled={setting.isPending} onClick={() => setting.mutate(false, { onSuccess: onDone })}>
          {t("keepOut")}
        </Button>
      </div>
    </Dialog>
  );
}

export function DeleteDialog({ person, onDone, onClose }: Props) {
  const t = useTranslations("settings.people");
  const deleting = useDeletePerson(person);
  const [typed, setTyped] = useState("");
  const isSure = typed.trim() === person.username;
  return (
    <Dialog title={t("deleteTitle", { name: person.username })} onClose={onClose}>
      <p>
        <strong>{t("deleteWhat")}</strong>
      </p>
      <ul className={styles.ends}>
        <li>{t("deleteEnds")}</li>
        <li>{t("deleteStops")}</li>
        <li>{t("deleteStays")}</li>
      </ul>
      <Field
        label={t.rich("confirm", { name: () => <Name text={person.username} /> })}
        value={typed}
        autoComplete="off"
        onChange={(event) => setTyped(event.target.value)}
      />
      <TroubleText error={deleting.error} name={person.username} />
      <div className={lists.actions}>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button
          look="danger"
          disabled={!isSure || deleting.isPending}
          onClick={() => deleting.mutate(undefined, { onSuccess: onDone })}
        >
          {t("deleteDo")}
        </Button>
      </div>
    </Dialog>
  );
}
