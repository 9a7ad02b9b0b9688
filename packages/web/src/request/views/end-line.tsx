import { useMemo } from "react";
import { useTranslations } from "use-intl";
import { hiddenIn } from "@/text/reveal";
import { neededCode, offersRisk } from "../model/codes";
import { argumentsOf } from "../model/json-lines";
import { jsonOf, textsOf } from "../model/looks";
import { useReview } from "../review";
import styles from "./panel.module.css";

/** After the last line: what there was of it, and the digits that only those can repeat who came this far. */
export function EndLine() {
  const t = useTranslations("request.run");
  const { request, end, look, mode } = useReview();
  const counted = useMemo(() => argumentsOf(jsonOf(request)), [request]);
  const hidden = useMemo(() => hiddenIn(textsOf(request, look)), [request, look]);
  const size =
    look === "command" ? t("lines", { count: request.view.lines.length }) : t("arguments", { count: counted.length });
  // An edited call ends in its form.
  const isEdit = mode === "edit";
  return (
    <div ref={isEdit ? undefined : end.marker} className={styles.end}>
      <span>{t("end")}</span>
      <span>{size}</span>
      {hidden > 0 && <span className={styles.hidden}>{t("hidden", { count: hidden })}</span>}
      {!isEdit && <Code />}
    </div>
  );
}

/** Nowhere but after the last line of what is answered. */
export function Code() {
  const t = useTranslations("request.run");
  const { request, mode, kept, draft, situation } = useReview();
  const isOption = offersRisk(request);
  const code = isOption ? request.code : neededCode(request, mode, kept, draft);
  if (!code || situation !== "open") return null;
  const key = isOption ? "codeToAnswer" : mode === "refuse" ? "codeToConfirm" : "code";
  return (
    <span>
      {t.rich(key, {
        code: () => (
          <strong key="code" className={styles.code} data-code>
            {code}
          </strong>
        ),
      })}
    </span>
  );
}
