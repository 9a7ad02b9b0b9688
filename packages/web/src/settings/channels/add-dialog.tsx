import type { ChannelKind, SettingField } from "interlock-client/wire";
import { type FormEvent, useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Field } from "@/design/field";
import { fieldMessage, isToldElsewhere } from "@/request/problems";
import lists from "../settings.module.css";
import { useAddChannel } from "./api";
import { channelOf, type Draft, draftOf, missing } from "./draft";
import * as messages from "./messages";

interface Props {
  kinds: readonly ChannelKind[];
  onDone: (name: string) => void;
  onClose: () => void;
}

const LONGEST_NAME = 80;
const LONGEST_VALUE = 2_000;

/** Which fields there are, the server says, kind by kind. */
export function AddDialog({ kinds, onDone, onClose }: Props) {
  const t = useTranslations("settings.channels");
  const [kind, setKind] = useState(kinds[0]);
  if (!kind) return null;
  return (
    <Dialog title={t("addTitle")} onClose={onClose}>
      <label className={lists.field}>
        <strong>{t("kind")}</strong>
        <select
          value={kind.kind}
          onChange={(event) => setKind(kinds.find((one) => one.kind === event.target.value) ?? kind)}
        >
          {kinds.map((one) => (
            <option key={one.kind} value={one.kind}>
              {kindName(t, one.kind)}
            </option>
          ))}
        </select>
      </label>
      <Form key={kind.kind} kind={kind} onDone={onDone} onClose={onClose} />
    </Dialog>
  );
}

type Words = ReturnType<typeof useTranslations<"settings.channels">>;

/** One that these pages have no words for yet is called as the server calls it. */
function kindName(t: Words, kind: string): string {
  return kind in messages.en.kinds ? t(`kinds.${kind as keyof typeof messages.en.kinds}`) : kind;
}

function fieldName(t: Words, name: string): string {
  return name in messages.en.fields ? t(`fields.${name as keyof typeof messages.en.fields}`) : name;
}

function Form({ kind, onDone, onClose }: { kind: ChannelKind; onDone: (name: string) => void; onClose: () => void }) {
  const t = useTranslations("settings.channels");
  const adding = useAddChannel();
  const [draft, setDraft] = useState(() => draftOf(kind));
  const change = (changed: Partial<Draft>) => setDraft((before) => ({ ...before, ...changed }));
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (adding.isPending || missing(draft, kind.fields)) return;
    adding.mutate(channelOf(draft, kind.fields), { onSuccess: ({ name }) => onDone(name) });
  };
  const isBeside = (field: string) => kind.fields.some((one) => namesOf(one).includes(field));
  return (
    <form className={lists.fields} onSubmit={add} noValidate>
      <Field
        label={t("name")}
        rule={t("nameRule")}
        value={draft.name}
        maxLength={LONGEST_NAME}
        autoComplete="off"
        onChange={(event) => change({ name: event.target.value })}
      />
      {kind.fields.map((field) => (
        <Setting
          key={field.name}
          field={field}
          value={draft.values[field.name] ?? ""}
          wrong={fieldMessage(adding.error, ...namesOf(field))}
          onChange={(value) => change({ values: { ...draft.values, [field.name]: value } })}
        />
      ))}
      <Shows draft={draft} answers={kind.answers} onChange={change} />
      {adding.error && !isToldElsewhere(adding.error, isBeside) && (
        <p role="alert" className={lists.trouble}>
          {t("notAdded", { message: adding.error.message })}
        </p>
      )}
      <div className={lists.actions}>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button type="submit" look="primary" aria-disabled={adding.isPending || missing(draft, kind.fields)}>
          {t("addDo")}
        </Button>
      </div>
    </form>
  );
}

function namesOf({ name }: SettingField): string[] {
  return [`settings.${name}`, `credentials.${name}`];
}

interface SettingProps {
  field: SettingField;
  value: string;
  wrong: string | undefined;
  onChange: (value: string) => void;
}

function Setting({ field, value, wrong, onChange }: SettingProps) {
  const t = useTranslations("settings.channels");
  const name = fieldName(t, field.name);
  const label = field.required ? name : t("optional", { name });
  if (field.type === "choice") {
    return (
      <label className={lists.field}>
        <strong>{label}</strong>
        <select value={value} onChange={(event) => onChange(event.target.value)}>
          {field.options.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
    );
  }
  return (
    <Field
      label={label}
      rule={field.type === "list" ? t("listRule") : null}
      wrong={wrong && t("wrong", { message: wrong })}
      type={field.type === "secret" ? "password" : "text"}
      inputMode={field.type === "number" ? "numeric" : undefined}
      autoComplete={field.type === "secret" ? "new-password" : "off"}
      maxLength={LONGEST_VALUE}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

interface ShowsProps {
  draft: Draft;
  answers: boolean;
  onChange: (changed: Partial<Draft>) => void;
}

function Shows({ draft, answers, onChange }: ShowsProps) {
  const t = useTranslations("settings.channels");
  return (
    <>
      <label className={lists.field}>
        <strong>{t("shows")}</strong>
        <select value={draft.shows} onChange={(event) => onChange({ shows: event.target.value as Draft["shows"] })}>
          <option value="headline">{t("headline")}</option>
          <option value="full">{t("full")}</option>
        </select>
      </label>
      {draft.shows === "full" && <p className={lists.hint}>{t("fullWhat")}</p>}
      {answers && (
        <label className={lists.field}>
          <strong>{t("ceiling")}</strong>
          <select
            value={draft.ceiling}
            onChange={(event) => onChange({ ceiling: event.target.value as Draft["ceiling"] })}
          >
            <option value="low">{t("low")}</option>
            <option value="medium">{t("medium")}</option>
          </select>
        </label>
      )}
    </>
  );
}
