import { Conflict, InvalidInput } from "interlock-client/errors";
import type { Group } from "interlock-client/inbox";
import { type FormEvent, useId, useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Field } from "@/design/field";
import { fieldMessage } from "@/request/problems";
import lists from "../settings.module.css";
import { useCreateGroup, useRemoveGroup, useSetMembers } from "./api";
import styles from "./groups.module.css";
import { membersOf, typedOf } from "./members";

interface Props {
  onDone: (name: string) => void;
  onClose: () => void;
}

const LONGEST_NAME = 64;

/** A group, made or with other members; without one it is to be made. */
export function GroupDialog({ group, onDone, onClose }: Props & { group: Group | null }) {
  const t = useTranslations("settings.groups");
  const creating = useCreateGroup();
  const setting = useSetMembers();
  const [name, setName] = useState(group?.name ?? "");
  const [typed, setTyped] = useState(typedOf(group?.members ?? []));
  const saving = group ? setting : creating;
  const save = (event: FormEvent) => {
    event.preventDefault();
    const named = { name: name.trim(), members: membersOf(typed) };
    if (named.name && !saving.isPending) saving.mutate(named, { onSuccess: () => onDone(named.name) });
  };
  return (
    <Dialog title={group ? t("changeTitle", { name: group.name }) : t("makeTitle")} onClose={onClose}>
      <form onSubmit={save} className={styles.form}>
        {!group && (
          <Field
            label={t("name")}
            rule={t("nameRule")}
            wrong={nameTrouble(saving.error, t("exists"))}
            value={name}
            maxLength={LONGEST_NAME}
            autoComplete="off"
            onChange={(event) => setName(event.target.value)}
          />
        )}
        <Members typed={typed} onTyped={setTyped} />
        <Trouble error={saving.error} />
        <div className={lists.actions}>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button type="submit" look="primary" aria-disabled={saving.isPending || !name.trim()}>
            {t(group ? "save" : "create")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Members({ typed, onTyped }: { typed: string; onTyped: (typed: string) => void }) {
  const t = useTranslations("settings.groups");
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{t("members")}</label>
      <textarea
        id={id}
        rows={6}
        spellCheck={false}
        aria-describedby={`${id}-rule`}
        value={typed}
        onChange={(event) => onTyped(event.target.value)}
      />
      <span id={`${id}-rule`} className={lists.hint}>
        {t("membersRule")}
      </span>
    </div>
  );
}

export function RemoveDialog({ group, onDone, onClose }: Props & { group: Group }) {
  const t = useTranslations("settings.groups");
  const removing = useRemoveGroup();
  const { name } = group;
  return (
    <Dialog title={t("deleteTitle", { name })} onClose={onClose}>
      <p>{t("deleteWhat")}</p>
      <Trouble error={removing.error} />
      <div className={lists.actions}>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button
          look="danger"
          disabled={removing.isPending}
          onClick={() => removing.mutate(name, { onSuccess: () => onDone(name) })}
        >
          {t("deleteDo")}
        </Button>
      </div>
    </Dialog>
  );
}

function nameTrouble(error: Error | null, exists: string): string | null {
  if (error instanceof Conflict) return exists;
  return fieldMessage(error, "name") ?? null;
}

/** What is not said beside the name. */
function Trouble({ error }: { error: Error | null }) {
  const t = useTranslations("settings.groups");
  if (!error || nameTrouble(error, "exists")) return null;
  const isName = error instanceof InvalidInput && error.errors.some(({ field }) => field === "members");
  return (
    <p role="alert" className={lists.trouble}>
      {t(isName ? "unknown" : "failed", { message: error.message })}
    </p>
  );
}
