import type { PersonEntry, PersonRole } from "interlock-client/wire";
import { type FormEvent, useId, useState } from "react";
import { useTranslations } from "use-intl";
import { useAgents } from "@/chat/threads";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Name } from "@/request/names";
import { Loading } from "@/shell/loading";
import lists from "../settings.module.css";
import { useSetRole } from "./api";
import styles from "./people.module.css";
import { type Chosen, chosenOf, reviewsOf } from "./reviews";
import { TroubleText } from "./trouble-text";

const ROLES: readonly PersonRole[] = ["owner", "reviewer", "admin"];

interface Props {
  person: PersonEntry;
  onChanged: (person: PersonEntry) => void;
  onClose: () => void;
}

export function RoleDialog({ person, onChanged, onClose }: Props) {
  const t = useTranslations("settings.people");
  const agents = useAgents();
  const hosted = agents.data?.agents.map((one) => one.name);
  return (
    <Dialog title={t("roleTitle", { name: person.username })} onClose={onClose}>
      {agents.isPending && <Loading />}
      {!agents.isPending && <RoleForm {...{ person, onChanged, onClose }} hosted={hosted ?? []} />}
    </Dialog>
  );
}

function RoleForm({ person, hosted, onChanged, onClose }: Props & { hosted: readonly string[] }) {
  const t = useTranslations("settings.people");
  const setting = useSetRole(person);
  const [role, setRole] = useState<PersonRole>(person.role);
  const [chosen, setChosen] = useState<Chosen>(() => chosenOf(person.reviews, hosted));
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (setting.isPending) return;
    const reviews = role === "reviewer" ? reviewsOf(chosen) : [];
    setting.mutate({ role, reviews }, { onSuccess: onChanged });
  };
  return (
    <form className={styles.form} onSubmit={save}>
      <Roles role={role} onRole={setRole} />
      {role === "reviewer" && <Reviews hosted={hosted} chosen={chosen} onChosen={setChosen} />}
      <TroubleText error={setting.error} name={person.username} />
      <div className={lists.actions}>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button type="submit" look="primary" aria-disabled={setting.isPending}>
          {t("save")}
        </Button>
      </div>
    </form>
  );
}

function Roles({ role, onRole }: { role: PersonRole; onRole: (role: PersonRole) => void }) {
  const t = useTranslations("settings.people");
  const id = useId();
  return (
    <div role="radiogroup" aria-label={t("change")}>
      {ROLES.map((one) => (
        <label key={one} className={styles.option}>
          <input
            type="radio"
            name="role"
            checked={role === one}
            aria-describedby={`${id}-${one}`}
            aria-labelledby={`${id}-${one}-name`}
            onChange={() => onRole(one)}
          />
          <span>
            <strong id={`${id}-${one}-name`}>{t(`role.${one}`)}</strong>
            <span id={`${id}-${one}`} className={styles.hint}>
              {t(`roleWhat.${one}`)}
            </span>
          </span>
        </label>
      ))}
    </div>
  );
}

interface ReviewsProps {
  hosted: readonly string[];
  chosen: Chosen;
  onChosen: (chosen: Chosen) => void;
}

function Reviews({ hosted, chosen, onChosen }: ReviewsProps) {
  const t = useTranslations("settings.people");
  const id = useId();
  const toggle = (name: string, isOn: boolean) => {
    const others = chosen.hosted.filter((one) => one !== name);
    onChosen({ ...chosen, hosted: isOn ? [...others, name] : others });
  };
  return (
    <>
      <fieldset className={lists.group}>
        <legend>{t("agents")}</legend>
        {hosted.map((name) => (
          <label key={name} className={lists.check}>
            <input
              type="checkbox"
              checked={chosen.hosted.includes(name)}
              onChange={(event) => toggle(name, event.target.checked)}
            />
            <Name text={name} />
          </label>
        ))}
      </fieldset>
      <div className={styles.field}>
        <label htmlFor={id}>{t("elsewhere")}</label>
        <textarea
          id={id}
          rows={2}
          value={chosen.elsewhere}
          spellCheck={false}
          aria-describedby={`${id}-hint`}
          onChange={(event) => onChosen({ ...chosen, elsewhere: event.target.value })}
        />
        <span id={`${id}-hint`} className={styles.hint}>
          {t("elsewhereHint")}
        </span>
      </div>
    </>
  );
}
