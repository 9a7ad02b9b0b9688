import { History, Inbox, MessagesSquare, Settings } from "lucide-react";
import { useTranslations } from "use-intl";
import { Link, useLocation } from "wouter";
import styles from "./layout.module.css";
import { usePendingCount, useSpelledCount } from "./pending-count";

type Place = "inbox" | "chat" | "history" | "settings";

const ICONS = { inbox: Inbox, chat: MessagesSquare, history: History, settings: Settings } as const;

/** In the bar and in the tabs of phones. */
export function NavLink({ place, withIcon = false }: { place: Place; withIcon?: boolean }) {
  const t = useTranslations("shell.nav");
  const [path] = useLocation();
  const Icon = ICONS[place];
  return (
    <Link href={`/${place}`} className={styles.link} aria-current={isAt(path, place) ? "page" : undefined}>
      {withIcon && <Icon size={20} aria-hidden="true" />}
      <span>
        {t(place)}
        {place === "inbox" && <Count />}
      </span>
    </Link>
  );
}

function Count() {
  const t = useTranslations("shell");
  const count = usePendingCount();
  const spelled = useSpelledCount();
  if (!count) return null;
  return (
    <>
      <span aria-hidden="true" className={styles.count}>
        {spelled(count)}
      </span>
      <span className="only-read-aloud">, {t("waiting", { count })}</span>
    </>
  );
}

/** A request is read in the inbox, and what the history adds up to is reached from it. */
export function isAt(path: string, place: Place): boolean {
  const [, first] = path.split("/");
  if (first === "requests") return place === "inbox";
  return first === place || (place === "history" && first === "figures");
}
