import { useId } from "react";
import { useTranslations } from "use-intl";
import { Revealed } from "@/text/revealed";
import type { Question } from "../model/bodies";
import { chosen, type Free, NOTHING, WAYS, type Way } from "../model/free";
import { useReview } from "../review";
import { KeyNumber, Offered } from "./choices";
import styles from "./forms.module.css";

interface Props {
  /** What is asked, by the ids of its elements. */
  labelledBy: string;
  question: Question;
}

/** What the graph offers, and yes, no, a text or JSON. Nothing is chosen beforehand. */
export function FreeForm({ labelledBy, question: { choices } }: Props) {
  const { draft, setDraft } = useReview();
  const name = useId();
  const free = draft.free ?? NOTHING;
  const change = (part: Partial<Free>) =>
    setDraft((before) => ({ ...before, free: { ...(before.free ?? NOTHING), ...part } }));
  return (
    <fieldset className={styles.choices} aria-labelledby={labelledBy}>
      <Offered
        name={name}
        choices={choices}
        chosen={free.way === null ? free.option : null}
        onChoice={(option) => change({ way: null, option })}
      />
      {WAYS.map((way, place) => (
        <OneWay key={way} way={way} place={choices.length + place + 1} name={name} free={free} onChange={change} />
      ))}
    </fieldset>
  );
}

interface WayProps {
  way: Way;
  place: number;
  name: string;
  free: Free;
  onChange: (part: Partial<Free>) => void;
}

function OneWay({ way, place, name, free, onChange }: WayProps) {
  const t = useTranslations("request.forms.free");
  return (
    <div className={styles.own}>
      <label className={styles.choice}>
        <input type="radio" name={name} checked={free.way === way} onChange={() => onChange({ way })} />
        <KeyNumber place={place} />
        <span className={styles.label}>
          <strong>{t(way)}</strong>
          {(way === "yes" || way === "no") && <code className={styles.value}>{String(way === "yes")}</code>}
        </span>
      </label>
      {(way === "text" || way === "json") && (
        <textarea
          className={styles.area}
          rows={free.way === way ? 3 : 1}
          spellCheck={way === "text"}
          aria-label={t(`${way}Label`)}
          aria-invalid={way === "json" && free.way === way && chosen(free).state === "noJson"}
          data-own={place}
          value={free[way]}
          onChange={(event) => onChange({ way, [way]: event.target.value })}
        />
      )}
    </div>
  );
}

/** Said where it is sent, and exactly: what reads alike may be something else for a graph. */
export function Gets() {
  const t = useTranslations("request.forms.free");
  const found = chosen(useReview().draft.free ?? NOTHING);
  if (found.state === "missing") return null;
  const value = (spelled: string) => (
    <code key="value">
      <Revealed text={spelled} />
    </code>
  );
  return (
    <p className={found.state === "chosen" ? styles.gets : styles.wrong} aria-live="polite">
      {found.state === "chosen" ? t.rich("gets", { value: () => value(found.spelled) }) : t(found.state)}
    </p>
  );
}
