import { useId } from "react";
import { useTranslations } from "use-intl";
import { Wrong } from "../forms/agent-text";
import { fieldMessage } from "../problems";
import { useReview } from "../review";
import styles from "./bar.module.css";

/** Four digits that only those know who came to the end of what will run. */
export function CodeField() {
  const t = useTranslations("request.bar");
  const { code, typed, setTyped, problem } = useReview();
  const id = useId();
  if (!code) return null;
  const wrong = fieldMessage(problem, "code");
  return (
    <div className={styles.code}>
      <label htmlFor={id}>{t("code")}</label>
      <input
        id={id}
        className={styles.digits}
        inputMode="numeric"
        autoComplete="off"
        maxLength={4}
        placeholder="····"
        title={t("codeHint")}
        data-act="code"
        aria-invalid={!!wrong}
        value={typed}
        onChange={(event) => setTyped(event.target.value.replace(/\D/g, ""))}
      />
      <Wrong>{wrong}</Wrong>
    </div>
  );
}
