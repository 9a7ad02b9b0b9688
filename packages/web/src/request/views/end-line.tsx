import { useMemo } from "react";
import { useTranslations } from "use-intl";
import { hiddenIn } from "@/text/reveal";
import { neededCode } from "../model/codes";
import { argumentsOf } from "../model/json-lines";
import { jsonOf, textsOf } from "../model/looks";
import { useReview } from "../review";
import styles from "./panel.module.css";

/** After the last line: what there was of it, and the digits that only those can repeat who came this far. */
export function EndLine() {
  const t = useTranslations("request.run");
  const { request, end, look } = useReview();
  const counted = useMemo(() => argumentsOf(jsonOf(request)), [request]);
  const hidden = useMemo(() => hiddenIn(textsOf(request, look)), [request, look]);
  const size =
    look === "command" ? t("lines", { count: request.view.lines.length }) : t("arguments", { count: counted.length });
  return (
    <div ref={end.marker} className={styles.end}>
      <span>{t("end")}</span>
      <span>{size}</span>
      {hidden > 0 && <span className={styles.hidden}>{t("hidden", { count: hidden })}</span>}
      <Code />
    </div>
  );
}

/** Of an edit too the digits stand here: they are those of what was asked for. */
export function Code() {
  const t = useTranslations("request.run");
  const { request, mode, kept, draft, situation } = useReview();
  const code = neededCode(request, mode, kept, draft);
  if (!code || situation !== "open") return null;
  const key = request.kind === "decision" ? "codeToAnswer" : mode === "refuse" ? "codeToConfirm" : "code";
  return (
    <span>
      {t.rich(key, {
        code: () => (
          <strong key="code" className={styles.code}>
            {code}
          </strong>
        ),
      })}
    </span>
  );
}
