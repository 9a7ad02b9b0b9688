import { useTranslations } from "use-intl";
import { useReview } from "../review";
import styles from "./bar.module.css";

/** What the server said of an answer that it did not take. */
export function Problem() {
  const t = useTranslations("request.bar");
  const { problem, isStale } = useReview();
  // That the file has changed is said where the new one can be shown.
  if (!problem || (isStale && problem.code === "file_changed")) return null;
  return (
    <p className={styles.problem} role="alert">
      {problem.code === "not_shown" ? t("notShown") : t("failed", { message: problem.message })}
    </p>
  );
}
