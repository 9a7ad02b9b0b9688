import { useTranslations } from "use-intl";
import styles from "./states.module.css";

/** Seen only when it takes longer than one would notice. */
export function Loading() {
  const t = useTranslations("shell");
  return (
    <p className={styles.loading} role="status">
      {t("loading")}
    </p>
  );
}
