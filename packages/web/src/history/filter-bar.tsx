import { SlidersHorizontal } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { FACES, type Filters, isEmpty, NONE, OUTCOMES } from "./filters";
import styles from "./history-page.module.css";

const PAUSE = 400;

interface Props {
  filters: Filters;
  onChange: (filters: Filters) => void;
}

/** On phones it is shown when asked for. */
export function Filtering(props: Props) {
  const t = useTranslations("inbox");
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const isOn = !isEmpty(props.filters);
  return (
    <>
      <Button
        className={styles.toggle}
        aria-expanded={isOpen}
        aria-controls={id}
        look={isOn ? "soft" : "plain"}
        onClick={() => setOpen(!isOpen)}
      >
        <SlidersHorizontal size={16} aria-hidden="true" /> {t(isOn ? "filtersOn" : "filters")}
      </Button>
      <div id={id} className={isOpen ? undefined : styles.folded}>
        <FilterBar {...props} />
      </div>
    </>
  );
}

function FilterBar({ filters, onChange }: Props) {
  const t = useTranslations("history");
  const change = (changed: Partial<Filters>) => onChange({ ...filters, ...changed });
  const faces = FACES.map((face): Choice => [face, t(`face.${face}`)]);
  const outcomes = OUTCOMES.map((outcome): Choice => [outcome, t(`outcome.${outcome}`)]);
  return (
    <search className={styles.filters} aria-label={t("filter.label")}>
      <Field label={t("filter.who")}>
        <Typed value={filters.who} hint={t("filter.whoHint")} onChange={(who) => change({ who })} />
      </Field>
      <Field label={t("filter.face")}>
        <Select value={filters.face} choices={faces} onChange={(face) => change({ face })} />
      </Field>
      <Field label={t("filter.tool")}>
        <Typed value={filters.tool} hint={t("filter.toolHint")} onChange={(tool) => change({ tool })} />
      </Field>
      <Field label={t("filter.outcome")}>
        <Select value={filters.outcome} choices={outcomes} onChange={(outcome) => change({ outcome } as Filters)} />
      </Field>
      <Field label={t("filter.from")}>
        <Day value={filters.from} max={filters.to} onChange={(from) => change({ from })} />
      </Field>
      <Field label={t("filter.to")}>
        <Day value={filters.to} min={filters.from} onChange={(to) => change({ to })} />
      </Field>
      {!isEmpty(filters) && (
        <Button look="quiet" onClick={() => onChange(NONE)}>
          {t("filter.clear")}
        </Button>
      )}
    </search>
  );
}

/** A value and its words. */
type Choice = [string, string];

interface Control {
  value: string;
  onChange: (value: string) => void;
}

function Select({ value, choices, onChange }: Control & { choices: Choice[] }) {
  const t = useTranslations("history.filter");
  return (
    <select value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{t("any")}</option>
      {choices.map(([name, words]) => (
        <option key={name} value={name}>
          {words}
        </option>
      ))}
    </select>
  );
}

function Day({ value, onChange, ...bounds }: Control & { min?: string; max?: string }) {
  return <input type="date" value={value} {...bounds} onChange={(event) => onChange(event.target.value)} />;
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is what it is put around
    <label className={styles.field}>
      <span>{label}</span>
      {children}
    </label>
  );
}

/** Looked for once the typing pauses. */
function Typed({ value, hint, onChange }: Control & { hint: string }) {
  const [text, setText] = useState(value);
  const newest = useRef(onChange);
  useEffect(() => {
    newest.current = onChange;
  });
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => newest.current(text.trim()), PAUSE);
    return () => clearTimeout(timer);
  }, [text, value]);
  return <input type="search" value={text} placeholder={hint} onChange={(event) => setText(event.target.value)} />;
}
