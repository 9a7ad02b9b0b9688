import type { JsonObject } from "interlock-client/json";
import { useId } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Revealed } from "@/text/revealed";
import { AgentText, Wrong } from "../forms/agent-text";
import { Name } from "../names";
import styles from "./edit.module.css";
import { useEditing, useMisfit } from "./edit-context";
import { EitherField } from "./either-field";
import { FieldBlocks } from "./field-blocks";
import { blank, type Entry, type Field } from "./fields";
import { ListField } from "./list-field";
import { under } from "./paths";
import { RawField } from "./raw-field";
import { BooleanField, ChoiceField, NumberField, TextField } from "./simple-fields";

export interface FieldProps<F extends Field = Field> {
  /** As a screen reader says it. */
  name: string;
  path: string;
  field: F;
  value: unknown;
  onChange: (value: unknown) => void;
}

export function FieldView(props: FieldProps) {
  const { field } = props;
  switch (field.type) {
    case "text":
      return <TextField {...props} />;
    case "number":
      return <NumberField {...props} isWhole={field.isWhole} />;
    case "boolean":
      return <BooleanField {...props} />;
    case "null":
      return <code>null</code>;
    case "choice":
      return <ChoiceField {...props} values={field.values} />;
    case "list":
      return <ListField {...props} field={field} />;
    case "object":
      return <ObjectField {...props} field={field} />;
    case "either":
      return <EitherField {...props} field={field} />;
    case "raw":
      return <RawField {...props} />;
  }
}

function ObjectField({ path, field, value, onChange }: FieldProps<Extract<Field, { type: "object" }>>) {
  const args = value as JsonObject;
  const set = (name: string, changed: unknown) => onChange({ ...args, [name]: changed });
  const remove = (name: string) => onChange(Object.fromEntries(Object.entries(args).filter(([one]) => one !== name)));
  return (
    <div className={path ? styles.nested : styles.object}>
      <FieldBlocks
        items={field.entries}
        draw={(entry) =>
          Object.hasOwn(args, entry.name) ? (
            <EntryView
              key={entry.name}
              entry={entry}
              path={under(path, entry.name)}
              value={args[entry.name]}
              onChange={(changed) => set(entry.name, changed)}
              onRemove={() => remove(entry.name)}
            />
          ) : (
            <Absent
              key={entry.name}
              entry={entry}
              path={under(path, entry.name)}
              onAdd={() => set(entry.name, blank(entry.field))}
            />
          )
        }
      />
    </div>
  );
}

interface EntryProps {
  entry: Entry;
  path: string;
  value: unknown;
  onChange: (value: unknown) => void;
  onRemove: () => void;
}

function EntryView({ entry, path, value, onChange, onRemove }: EntryProps) {
  const t = useTranslations("request.edit");
  const misfit = useMisfit(path);
  const { isGuessed } = useEditing();
  const heading = useId();
  return (
    <div className={styles.entry} data-wrong={misfit ? "" : undefined}>
      <div className={styles.name} id={heading}>
        <Name text={entry.name} />{" "}
        {entry.isRequired && !isGuessed && <span className={styles.note}>{t("required")}</span>}
        {!entry.isRequired && (
          <Button look="quiet" className={styles.remove} onClick={onRemove}>
            {t("remove")}
          </Button>
        )}
      </div>
      {entry.description && <AgentText text={entry.description} />}
      <FieldView name={entry.name} path={path} field={entry.field} value={value} onChange={onChange} />
      <Wrong>{misfit && (misfit.message ?? t(`misfit.${misfit.reason}`))}</Wrong>
    </div>
  );
}

/** An argument that the call does not have. */
function Absent({ entry, path, onAdd }: { entry: Entry; path: string; onAdd: () => void }) {
  const t = useTranslations("request.edit");
  const misfit = useMisfit(path);
  return (
    <div className={styles.entry} data-wrong={misfit ? "" : undefined}>
      <Button look="quiet" className={styles.add} onClick={onAdd}>
        <span>{t.rich("add", { name: () => <Revealed key="name" text={entry.name} /> })}</span>
      </Button>
      <Wrong>{misfit && (misfit.message ?? t(`misfit.${misfit.reason}`))}</Wrong>
    </div>
  );
}
