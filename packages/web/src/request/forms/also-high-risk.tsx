import { useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { isUnderCeiling, type Kept } from "../model/remember";
import { fieldMessage } from "../problems";
import { useReview } from "../review";
import styles from "./remember.module.css";

/** A choice of its own, off, and asked about once more: without it a grant covers no higher risk than this call has. */
export function AlsoHighRisk() {
  const t = useTranslations("request.remember.high");
  const { request, mode, kept, setKept, problem } = useReview();
  const [isAsking, setAsking] = useState(false);
  if (!kept || kept.scope === "this_action" || !isUnderCeiling(request, mode)) return null;
  const set = (isOn: boolean) => setKept(withHighRisk(kept, isOn));
  const wrong = fieldMessage(problem, "also_high_risk", "confirm_high_risk");
  return (
    <>
      <label className={styles.choice}>
        <input
          type="checkbox"
          checked={kept.also_high_risk ?? false}
          onChange={(event) => (event.target.checked ? setAsking(true) : set(false))}
        />
        <span>{t("choice")}</span>
      </label>
      {wrong && <p className={styles.wrong}>{wrong}</p>}
      {isAsking && (
        <Dialog title={t("title")} onClose={() => setAsking(false)}>
          <p>{t("what")}</p>
          <div className={styles.actions}>
            <Button onClick={() => setAsking(false)}>{t("leave")}</Button>
            <Button
              look="danger"
              onClick={() => {
                set(true);
                setAsking(false);
              }}
            >
              {t("do")}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function withHighRisk({ scope, duration }: NonNullable<Kept>, isOn: boolean): Kept {
  return isOn ? { scope, duration, also_high_risk: true, confirm_high_risk: true } : { scope, duration };
}
