import type { Present } from "interlock-client/inbox";
import type { ComponentType } from "react";
import { useTranslations } from "use-intl";
import { Link, Redirect, useLocation, useParams } from "wouter";
import { usePerson } from "@/api/session";
import { NARROW, useMedia } from "@/shell/media";
import { NotFound } from "@/shell/not-found";
import { PageTitle } from "@/shell/page-title";
import { AccountSection } from "./account/account-section";
import { AgentsSection } from "./agents-section";
import { AwaySection } from "./away/away-section";
import { ChannelsSection } from "./channels/channels-section";
import { ConnectSection } from "./connect/connect-section";
import { GrantsSection } from "./grants-section";
import { GroupsSection } from "./groups/groups-section";
import { KeysSection } from "./keys-section";
import { NotificationsSection } from "./notifications/notifications-section";
import { PeopleSection } from "./people/people-section";
import { PolicySection } from "./policy/policy-section";
import { PreferencesSection } from "./preferences-section";
import { SecretsSection } from "./secrets-section";
import styles from "./settings.module.css";

const SECTIONS = {
  preferences: PreferencesSection,
  notifications: NotificationsSection,
  account: AccountSection,
  away: AwaySection,
  grants: GrantsSection,
  secrets: SecretsSection,
  keys: KeysSection,
  agents: AgentsSection,
  connect: ConnectSection,
  groups: GroupsSection,
  people: PeopleSection,
  policy: PolicySection,
  channels: ChannelsSection,
} satisfies Record<string, ComponentType>;

type Section = keyof typeof SECTIONS;
const NAMES = Object.keys(SECTIONS) as Section[];

const OF_ACCOUNTS: readonly Section[] = ["account", "away", "groups"];

/** Without accounts there is nothing to sign in with, and nobody to be told from others; people, policies and channels are for admins. */
function isFor({ auth, role }: Present, section: Section): boolean {
  if (section === "people") return role === "admin" && auth === "accounts";
  if (section === "policy" || section === "channels") return role === "admin";
  return !OF_ACCOUNTS.includes(section) || auth === "accounts";
}

export function SettingsPage() {
  const { section } = useParams<{ section?: string }>();
  const person = usePerson();
  const names = NAMES.filter((name) => isFor(person, name));
  if (!section) return <Redirect to="/settings/preferences" replace />;
  const known = names.find((name) => name === section);
  return known ? <OneSection section={known} names={names} /> : <NotFound />;
}

interface Props {
  section: Section;
  names: readonly Section[];
}

function OneSection({ section, names }: Props) {
  const t = useTranslations("settings");
  const isNarrow = useMedia(NARROW);
  const Content = SECTIONS[section];
  return (
    <div className={styles.page}>
      <nav className={styles.nav} aria-label={t("sections")}>
        {isNarrow ? <Field {...{ section, names }} /> : <Links {...{ section, names }} />}
      </nav>
      <div className={styles.content}>
        <PageTitle name={`settings-${section}`}>{t(`section.${section}`)}</PageTitle>
        <Content />
      </div>
    </div>
  );
}

function Links({ section, names }: Props) {
  const t = useTranslations("settings.section");
  return names.map((name) => (
    <Link key={name} href={`/settings/${name}`} aria-current={name === section ? "page" : undefined}>
      {t(name)}
    </Link>
  ));
}

/** They would take several rows of a phone. */
function Field({ section, names }: Props) {
  const t = useTranslations("settings");
  const [, go] = useLocation();
  return (
    <select aria-label={t("sections")} value={section} onChange={(event) => go(`/settings/${event.target.value}`)}>
      {names.map((name) => (
        <option key={name} value={name}>
          {t(`section.${name}`)}
        </option>
      ))}
    </select>
  );
}
