import { useId, useState } from "react";
import { useTranslations } from "use-intl";
import { hiddenIn } from "@/text/reveal";
import { Revealed } from "@/text/revealed";
import styles from "./edit.module.css";
import { useMisfit } from "./edit-context";
import { readNumber } from "./fields";

interface Props {
  name: string;
  path: string;
  value: unknown;
  onChange: (value: unknown) => void;
}

const LONGEST_ROW = 60;
const MOST_ROWS = 16;

export function TextField({ name, path, value, onChange }: Props) {
  const t = useTranslations("request.edit");
  const misfit = useMisfit(path);
  const text = String(value);
  const rows = Math.min(text.split("\n").length + (text.length > LONGEST_ROW ? 1 : 0), MOST_ROWS);
  return (
    <>
      <textarea
        className={styles.text}
        rows={rows}
        spellCheck={false}
        autoComplete="off"
        aria-label={name}
        aria-invalid={!!misfit}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
      {/* A field of the browser's own cannot show them. */}
      {hiddenIn(text.split("\n")) > 0 && (
        <div className={styles.revealed}>
          <span className={styles.note}>{t("hidden")}</span> <Revealed text={text} multiline />
        </div>
      )}
    </>
  );
}

/** What is typed stays as it is typed; it counts as a number as soon as it is one. */
export function NumberField({ name, path, value, onChange, isWhole }: Props & { isWhole: boolean }) {
  const misfit = useMisfit(path);
  const [typed, setTyped] = useState(String(value));
  const text = readNumber(typed, isWhole) === value ? typed : String(value);
  const change = (changed: string) => {
    setTyped(changed);
    onChange(readNumber(changed, isWhole));
  };
  return (
    <input
      className={styles.number}
      inputMode={isWhole ? "numeric" : "decimal"}
      autoComplete="off"
      aria-label={name}
      aria-invalid={!!misfit}
      value={text}
      onChange={(event) => change(event.target.value)}
    />
  );
}

export function BooleanField({ name, value, onChange }: Props) {
  const t = useTranslations("request.edit");
  const group = useId();
  return (
    <fieldset className={styles.switch}>
      <legend className="only-read-aloud">
        <Revealed text={name} />
      </legend>
      {[true, false].map((one) => (
        <label key={String(one)}>
          <input type="radio" name={group} checked={value === one} onChange={() => onChange(one)} />
          <code>{t(one ? "true" : "false")}</code>
        </label>
      ))}
    </fieldset>
  );
}

export function ChoiceField({ name, path, value, onChange, values }: Props & { values: readonly unknown[] }) {
  const misfit = useMisfit(path);
  const spelled = values.map((one) => JSON.stringify(one));
  return (
    <select
      className={styles.select}
      aria-label={name}
      aria-invalid={!!misfit}
      value={JSON.stringify(value)}
      onChange={(event) => onChange(JSON.parse(event.target.value))}
    >
      {spelled.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}
