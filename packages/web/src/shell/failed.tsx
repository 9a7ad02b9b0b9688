import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import styles from "./states.module.css";

/** Something that could not be loaded, and the way to try again. */
export function Failed({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const t = useTranslations("shell");
  return (
    <div className={styles.state} role="alert">
      <p className={styles.text}>{t("failed", { message: error.message })}</p>
      <Button onClick={onRetry}>{t("retry")}</Button>
    </div>
  );
}
