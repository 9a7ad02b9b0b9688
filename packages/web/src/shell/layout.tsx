import { CircleHelp, CircleUserRound, Ellipsis } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useTranslations } from "use-intl";
import { Link, useLocation } from "wouter";
import { usePerson } from "@/api/session";
import { Button } from "@/design/button";
import { Mark } from "@/design/mark";
import { useCutDeliveries } from "@/request/api/use-delivery";
import { Arrivals } from "./arrivals";
import { ConnectionNotice } from "./connection-notice";
import { ConnectionState } from "./connection-state";
import { ErrorBoundary } from "./error-boundary";
import { GlobalKeys } from "./global-keys";
import styles from "./layout.module.css";
import { isAt, NavLink } from "./nav";
import { PendingCounter, TitleBadge } from "./pending-count";
import { PersonDialog } from "./person";

/** The bar over every page from 768 px on, tabs under it below that. */
export function Layout({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isPersonOpen, setPersonOpen] = useState(false);
  const openPerson = () => setPersonOpen(true);
  useCutDeliveries();
  return (
    <div className={styles.layout}>
      <Bar onHelp={() => setHelpOpen(true)} onPerson={openPerson} />
      <main className={styles.main}>
        <ErrorBoundary place={path}>{children}</ErrorBoundary>
      </main>
      <Tabs onMore={openPerson} />
      <GlobalKeys isHelpOpen={isHelpOpen} onHelp={setHelpOpen} />
      {isPersonOpen && <PersonDialog onClose={() => setPersonOpen(false)} onHelp={() => setHelpOpen(true)} />}
      <PendingCounter />
      <TitleBadge />
      <Arrivals />
    </div>
  );
}

function Bar({ onHelp, onPerson }: { onHelp: () => void; onPerson: () => void }) {
  const t = useTranslations("shell");
  const person = usePerson();
  return (
    <header className={styles.bar}>
      <Link href="/inbox" className={styles.brand}>
        <Mark /> Interlock
      </Link>
      <nav className={styles.nav} aria-label={t("nav.label")}>
        <NavLink place="inbox" />
        <NavLink place="chat" />
        <NavLink place="history" />
        <NavLink place="settings" />
      </nav>
      <div className={styles.notice}>
        <ConnectionNotice />
      </div>
      <ConnectionState />
      <Button look="quiet" className={styles.act} onClick={onHelp} hint="?">
        <CircleHelp size={16} aria-hidden="true" /> {t("help.open")}
      </Button>
      <Button
        look="quiet"
        className={styles.act}
        onClick={onPerson}
        aria-label={t("person.open", { name: person.username })}
      >
        <CircleUserRound size={16} aria-hidden="true" />
        <span className={styles.name}>{person.username}</span>
      </Button>
    </header>
  );
}

function Tabs({ onMore }: { onMore: () => void }) {
  const t = useTranslations("shell.nav");
  const [path] = useLocation();
  return (
    <nav className={styles.tabs} aria-label={t("label")}>
      <NavLink place="inbox" withIcon />
      <NavLink place="chat" withIcon />
      <NavLink place="history" withIcon />
      <button
        type="button"
        className={styles.link}
        aria-current={isAt(path, "settings") ? "page" : undefined}
        onClick={onMore}
      >
        <Ellipsis size={20} aria-hidden="true" />
        <span>{t("more")}</span>
      </button>
    </nav>
  );
}
