import type { ComponentType } from "react";
import { useTranslations } from "use-intl";
import { Link, Redirect, useParams } from "wouter";
import { NotFound } from "@/shell/not-found";
import { PageTitle } from "@/shell/page-title";
import { AgentsSection } from "./agents-section";
import { GrantsSection } from "./grants-section";
import { KeysSection } from "./keys-section";
import { PreferencesSection } from "./preferences-section";
import { SecretsSection } from "./secrets-section";
import styles from "./settings.module.css";

const SECTIONS = {
  preferences: PreferencesSection,
  grants: GrantsSection,
  secrets: SecretsSection,
  keys: KeysSection,
  agents: AgentsSection,
} satisfies Record<string, ComponentType>;

type Section = keyof typeof SECTIONS;
const NAMES = Object.keys(SECTIONS) as Section[];

export function SettingsPage() {
  const { section } = useParams<{ section?: string }>();
  if (!section) return <Redirect to="/settings/preferences" replace />;
  const known = NAMES.find((name) => name === section);
  return known ? <OneSection section={known} /> : <NotFound />;
}

function OneSection({ section }: { section: Section }) {
  const t = useTranslations("settings");
  const Content = SECTIONS[section];
  return (
    <div className={styles.page}>
      <nav className={styles.nav} aria-label={t("sections")}>
        {NAMES.map((name) => (
          <Link key={name} href={`/settings/${name}`} aria-current={name === section ? "page" : undefined}>
            {t(`section.${name}`)}
          </Link>
        ))}
      </nav>
      <div className={styles.content}>
        <PageTitle name={`settings-${section}`}>{t(`section.${section}`)}</PageTitle>
        <Content />
      </div>
    </div>
  );
}
