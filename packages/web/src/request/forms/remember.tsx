import { useId } from "react";
import { useTranslations } from "use-intl";
import { isSame, isUnderCeiling, type Kept, offered } from "../model/remember";
import { namesIn } from "../names";
import { fieldMessage } from "../problems";
import { useReview } from "../review";
import { AlsoHighRisk } from "./also-high-risk";
import styles from "./remember.module.css";
import { useWhose } from "./whose";

/** Whether later asks are to be answered alike; whole sentences, so that nobody has to guess what they promise. */
export function Remember({ isTitled = true }: { isTitled?: boolean }) {
  const t = useTranslations("request.remember");
  const { request, mode, kept, setKept, problem } = useReview();
  const name = useId();
  const choices = offered(request);
  if (choices.length === 0) return null;
  const wrong = fieldMessage(problem, "remember", "scope");
  return (
    <fieldset className={styles.remember}>
      <legend className={isTitled ? undefined : "only-read-aloud"}>{t("title")}</legend>
      {[null, ...choices].map((one) => (
        <label key={one ? `${one.scope} ${one.duration}` : "once"} className={styles.choice}>
          <input type="radio" name={name} checked={isSame(kept, one)} onChange={() => setKept(one)} />
          <span>
            <Sentence kept={one} />
          </span>
        </label>
      ))}
      {wrong && <p className={styles.wrong}>{wrong}</p>}
      <AlsoHighRisk />
      <p className={styles.note}>
        {t("note")} {isUnderCeiling(request, mode) && t("noteRisk")}
      </p>
    </fieldset>
  );
}

/** What is kept, as one sentence; of a refusal that it is refused. */
export function Sentence({ kept, isRefusal }: { kept: Kept; isRefusal?: boolean }) {
  const t = useTranslations("request.remember");
  const { request, mode } = useReview();
  const whose = useWhose(request.owner);
  if (!kept) return t("once");
  const word = (isRefusal ?? mode === "refuse") ? "refuse" : "allow";
  const sentence = t.rich(`${word}.${kept.scope}.${kept.duration}`, { tool: namesIn(request).tool, whose });
  return kept.also_high_risk ? t.rich("alsoHigh", { sentence: () => sentence }) : sentence;
}

/** Said again where the answer is given. */
export function AndFromNowOn() {
  const t = useTranslations("request.remember");
  const { kept } = useReview();
  if (!kept) return null;
  return <p className={styles.again}>{t.rich("and", { sentence: () => <Sentence key="sentence" kept={kept} /> })}</p>;
}
