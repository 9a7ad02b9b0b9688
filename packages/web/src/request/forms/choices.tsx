import { useId } from "react";
import { useTranslations } from "use-intl";
import type { Choice } from "../model/bodies";
import type { Pick } from "../model/drafts";
import { AgentText } from "./agent-text";
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
      {choices.map((choice, place) => (
        <label key={choice.value} className={styles.choice}>
          <input
            type="radio"
            name={name}
            checked={!pick.isOwn && pick.choice === choice.value}
            onChange={() => onPick({ ...pick, choice: choice.value, isOwn: false })}
          />
          <KeyNumber place={place + 1} />
          <ChoiceLabel choice={choice} />
        </label>
      ))}
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

export function ChoiceLabel({ choice }: { choice: Choice }) {
  const t = useTranslations("request.forms");
  return (
    <span className={styles.label}>
      {choice.isRisky && (
        <span className={styles.risky}>
          <span aria-hidden="true">▲</span>
          <span className="only-read-aloud">{t("risky")}</span>
        </span>
      )}
      <AgentText text={choice.label} />
      {choice.value !== choice.label && (
        <code className={styles.value}>
          <AgentText text={choice.value} />
        </code>
      )}
    </span>
  );
}

/** The key that picks it. */
export function KeyNumber({ place }: { place: number }) {
  return place <= 9 ? (
    <span className={styles.number} aria-hidden="true">
      {place}
    </span>
  ) : null;
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
