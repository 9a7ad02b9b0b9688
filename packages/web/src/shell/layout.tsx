import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import styles from "./layout.module.css";

/** The bar over every page from 768 px on, tabs under it below that. */
export function Layout({ children }: { children: ReactNode }) {
  const t = useTranslations("shell.nav");
  return (
    <div className={styles.layout}>
      <nav aria-label={t("label")}>
        <Link href="/inbox">{t("inbox")}</Link>
      </nav>
      <main className={styles.main}>{children}</main>
    </div>
  );
}
