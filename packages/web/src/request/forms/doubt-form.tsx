import { useId } from "react";
import { useTranslations } from "use-intl";
import { Heading, Region } from "@/design/outline";
import { type Doubt, decisionOf } from "../model/bodies";
import { pickAt, withPick } from "../model/drafts";
import { isFillable } from "../model/outcome";
import { useReview } from "../review";
import { Code } from "../views/end-line";
import { Lines } from "../views/lines";
import panel from "../views/panel.module.css";
import { KeyNumber } from "./choices";
import { Why } from "./decision-form";
import styles from "./forms.module.css";

export const WAYS = ["retry", "skip", "done"] as const;

/** A call that was cut short, put to a person in Interlock's own words. */
export function DoubtForm({ doubt }: { doubt: Doubt }) {
  const t = useTranslations("request.forms");
  const run = useTranslations("request.run");
  const { draft, end, situation } = useReview();
  const heading = useId();
  return (
    <>
      <Region className={`${panel.panel} ${panel.risky}`} aria-labelledby={heading}>
        <div className={panel.top}>
          <Heading id={heading} className={panel.heading}>
            {run("doubtTitle")}
          </Heading>
        </div>
        <div className={panel.body}>
          <Lines lines={[doubt.tool, ...doubt.lines]} />
        </div>
        <div ref={end.marker} className={panel.end}>
          <span>{run("end")}</span>
          <Code />
        </div>
      </Region>
      <p className={styles.plain}>{t("doubt.asked")}</p>
      {isFillable(situation) && (
        <>
          <Ways />
          {pickAt(draft, 0).choice === "done" && <Why label={t("result")} />}
        </>
      )}
    </>
  );
}

function Ways() {
  const t = useTranslations("request.forms.doubt");
  const { request, draft, setDraft } = useReview();
  const name = useId();
  const risky = decisionOf(request).choices.filter((one) => one.isRisky);
  const pick = pickAt(draft, 0);
  return (
    <fieldset className={styles.choices}>
      <legend className="only-read-aloud">{t("asked")}</legend>
      {WAYS.map((way, place) => (
        <label key={way} className={styles.choice}>
          <input
            type="radio"
            name={name}
            checked={pick.choice === way}
            onChange={() => setDraft((before) => withPick(before, 0, { ...pick, choice: way }))}
          />
          <KeyNumber place={place + 1} />
          <span className={styles.way}>
            {risky.some((one) => one.value === way) && (
              <span className={styles.risky} aria-hidden="true">
                ▲
              </span>
            )}
            <span>
              <strong>{t(way)}</strong> <span className={styles.muted}>{t(`${way}Note`)}</span>
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
