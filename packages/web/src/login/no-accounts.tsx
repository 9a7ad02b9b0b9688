import { useTranslations } from "use-intl";
import { PageTitle } from "@/shell/page-title";
import styles from "./login.module.css";

/** Nobody can sign in yet, and nobody can register. */
export function NoAccounts() {
  const t = useTranslations("login.noAccounts");
  return (
    <>
      <PageTitle name="no-accounts">{t("title")}</PageTitle>
      <p className={styles.text}>{t("what")}</p>
      <p className={styles.text}>{t("lost")}</p>
      <pre className={styles.command}>interlock users create NAME</pre>
    </>
  );
}
