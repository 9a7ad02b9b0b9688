import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { PageTitle } from "./page-title";
import styles from "./states.module.css";

export function NotFound() {
  const t = useTranslations("shell");
  return (
    <div className={styles.state}>
      <PageTitle name="not-found">{t("notFound")}</PageTitle>
      <p className={styles.text}>{t("notFoundWhat")}</p>
      <Link href="/inbox">{t("toInbox")}</Link>
    </div>
  );
}
