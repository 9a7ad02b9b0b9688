import { useId } from "react";
import { useTranslations } from "use-intl";
import { Revealed } from "@/text/revealed";
import type { Choice } from "../model/bodies";
import type { Pick } from "../model/drafts";
import styles from "./forms.module.css";

interface Props {
  /** What is asked, by the id of its element. */
  labelledBy: string;
  choices: readonly Choice[];
  takesOwn: boolean;
  pick: Pick;
  onPick: (pick: Pick) => void;
  wrong?: string | undefined;
}

/** The agent's options, and one's own words. Nothing is chosen beforehand. */
export function Choices({ labelledBy, choices, takesOwn, pick, onPick, wrong }: Props) {
  const name = useId();
  return (
    <fieldset
      className={styles.choices}
      aria-labelledby={labelledBy}
      aria-describedby={wrong ? `${name}wrong` : undefined}
    >
      <Offered
        name={name}
        choices={choices}
        chosen={pick.isOwn ? null : pick.choice}
        onChoice={(choice) => onPick({ ...pick, choice, isOwn: false })}
      />
      {takesOwn && (
        <OwnWords name={name} place={choices.length + 1} pick={pick} onPick={onPick} isOnly={choices.length === 0} />
      )}
      {wrong && (
        <p id={`${name}wrong`} className={styles.wrong}>
          {wrong}
        </p>
      )}
    </fieldset>
  );
}

interface OfferedProps {
  name: string;
  choices: readonly Choice[];
  chosen: string | null;
  onChoice: (value: string) => void;
}

/** The agent's options, on the agent's ground. */
export function Offered({ name, choices, chosen, onChoice }: OfferedProps) {
  if (choices.length === 0) return null;
  const hasTwin = (choice: Choice) => choices.some((one) => one !== choice && one.label === choice.label);
  return (
    <div className={styles.offered}>
      {choices.map((choice, place) => (
        <label key={choice.value} className={styles.choice}>
          <input type="radio" name={name} checked={chosen === choice.value} onChange={() => onChoice(choice.value)} />
          <KeyNumber place={place + 1} />
          <ChoiceLabel choice={choice} withValue={hasTwin(choice)} />
        </label>
      ))}
    </div>
  );
}

/** What the agent gets stands beside the label only where that does not tell options apart. */
export function ChoiceLabel({ choice, withValue = false }: { choice: Choice; withValue?: boolean }) {
  const t = useTranslations("request.forms");
  return (
    <span className={styles.label}>
      {choice.isRisky && (
        <span className={styles.risky}>
          <span aria-hidden="true">▲</span>
          <span className="only-read-aloud">{t("risky")}</span>
        </span>
      )}
      <span className={styles.text}>
        <Revealed text={choice.label} />
      </span>
      {withValue && (
        <code className={styles.value}>
          <Revealed text={choice.value} />
        </code>
      )}
    </span>
  );
}

/** The key that picks it; where there is none, its room, so that words stand under words. */
export function KeyNumber({ place }: { place: number }) {
  return (
    <span className={place <= 9 ? styles.number : styles.unnumbered} aria-hidden="true">
      {place <= 9 && place}
    </span>
  );
}

interface OwnProps {
  name: string;
  place: number;
  pick: Pick;
  onPick: (pick: Pick) => void;
  /** Whether there is nothing else to choose. */
  isOnly: boolean;
}

function OwnWords({ name, place, pick, onPick, isOnly }: OwnProps) {
  const t = useTranslations("request.forms");
  return (
    <div className={styles.own}>
      {!isOnly && (
        <label className={styles.choice}>
          <input type="radio" name={name} checked={pick.isOwn} onChange={() => onPick({ ...pick, isOwn: true })} />
          <KeyNumber place={place} />
          <span className={styles.label}>{t("own")}</span>
        </label>
      )}
      <textarea
        className={styles.area}
        rows={isOnly ? 3 : 1}
        aria-label={t("ownLabel")}
        value={pick.own}
        data-own={place}
        onChange={(event) => onPick({ ...pick, own: event.target.value, isOwn: true })}
      />
    </div>
  );
}
