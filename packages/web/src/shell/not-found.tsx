import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { Mark } from "@/design/mark";
import { PageTitle } from "./page-title";
import styles from "./states.module.css";

export function NotFound() {
  const t = useTranslations("shell");
  return (
    <div className={`${styles.state} ${styles.lost}`}>
      <Mark size={40} />
      <PageTitle name="not-found">{t("notFound")}</PageTitle>
      <p className={styles.text}>{t("notFoundWhat")}</p>
      <Link href="/inbox" className={styles.way}>
        {t("toInbox")}
      </Link>
    </div>
  );
}
