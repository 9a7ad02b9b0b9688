import { useQueryClient } from "@tanstack/react-query";
import type { SignInEntry } from "interlock-client/wire";
import { Monitor, Smartphone, Terminal } from "lucide-react";
import { type ReactNode, type RefObject, useRef, useState } from "react";
import { useFormatter, useTranslations } from "use-intl";
import { serverNow } from "@/api/clock";
import { useSignOut } from "@/api/session";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { useAnnounce } from "@/shell/announcer";
import { Failed } from "@/shell/failed";
import { Loading } from "@/shell/loading";
import { Revealed } from "@/text/revealed";
import lists from "../settings.module.css";
import { useDay } from "../use-day";
import styles from "./account.module.css";
import { useEndAll, useEndOthers, useEndSession, useSessions } from "./api";
import { programOf } from "./program";

/** Right to the minute: what was used so lately is in use. */
const NOW = 120_000;

export function SessionsList() {
  const t = useTranslations("settings.account.sessions");
  const sessions = useSessions();
  const heading = useRef<HTMLHeadingElement>(null);
  return (
    <section className={styles.section} aria-labelledby="sessions">
      <h2 id="sessions" ref={heading} tabIndex={-1}>
        {t("title")}
      </h2>
      <p className={lists.what}>{t("what")}</p>
      {sessions.isPending && <Loading />}
      {sessions.isError && <Failed error={sessions.error} onRetry={() => void sessions.refetch()} />}
      {sessions.data && (
        <Sessions sessions={sorted(sessions.data.sessions)} total={sessions.data.total} heading={heading} />
      )}
    </section>
  );
}

/** This one first. */
function sorted(sessions: readonly SignInEntry[]): SignInEntry[] {
  return [...sessions].sort((one, other) => Number(other.current) - Number(one.current));
}

interface SessionsProps {
  sessions: SignInEntry[];
  total: number;
  heading: RefObject<HTMLHeadingElement | null>;
}

function Sessions({ sessions, total, heading }: SessionsProps) {
  const t = useTranslations("settings.account.sessions");
  const hidden = total - sessions.length;
  const back = () => heading.current?.focus();
  return (
    <>
      <ul className={lists.list}>
        {sessions.map((session) => (
          <Session key={session.id} session={session} left={total - 1} onEnded={back} />
        ))}
      </ul>
      {hidden > 0 && <p className={lists.what}>{t("more", { count: hidden })}</p>}
      <div className={styles.acts}>
        {total > 1 && <Everywhere act="endOther" onEnded={back} />}
        <Everywhere act="endAll" onEnded={back} />
      </div>
    </>
  );
}

interface SessionProps {
  session: SignInEntry;
  /** How many there are without it. */
  left: number;
  onEnded: () => void;
}

function Session({ session, left, onEnded }: SessionProps) {
  const t = useTranslations("settings.account.sessions");
  const day = useDay();
  const { name, Icon } = useName(session);
  const { end, isBusy, trouble } = useEnding(session, left, onEnded);
  const label = t("endOf", { name, time: day(session.signed_in_at) });
  return (
    <li className={lists.item}>
      <Icon size={20} aria-hidden="true" className={styles.icon} />
      <div className={lists.about}>
        <p className={lists.main}>
          <span>
            <Revealed text={name} />
          </span>
          {session.current && <span className={lists.badge}>{t("this")}</span>}
        </p>
        <Facts session={session} />
        {trouble && (
          <p role="alert" className={lists.trouble}>
            {t("failed", { message: trouble })}
          </p>
        )}
      </div>
      <Button aria-label={label} onClick={end} disabled={isBusy}>
        {t("end")}
      </Button>
    </li>
  );
}

function Facts({ session }: { session: SignInEntry }) {
  const t = useTranslations("settings.account.sessions");
  const day = useDay();
  const format = useFormatter();
  const now = serverNow();
  const used = Date.parse(session.last_used_at);
  const isNow = session.current || now - used < NOW;
  const facts: ReactNode[] = [
    <span key="used">{isNow ? t("now") : t("used", { ago: format.relativeTime(used, now) })}</span>,
    <span key="in">{t("signedIn", { time: day(session.signed_in_at) })}</span>,
  ];
  if (session.address) facts.push(<span key="from">{session.address}</span>);
  return <p className={lists.facts}>{facts}</p>;
}

const HANDHELD = ["iPhone", "iPad", "Android"];

function useName({ user_agent: agent }: SignInEntry): { name: string; Icon: typeof Monitor } {
  const t = useTranslations("settings.account.sessions");
  const known = programOf(agent ?? "");
  if (!known) return { name: agent || t("unknown"), Icon: Terminal };
  const { program, system } = known;
  return { name: t("on", { program, system }), Icon: HANDHELD.includes(system) ? Smartphone : Monitor };
}

function useEnding(session: SignInEntry, left: number, onEnded: () => void) {
  const t = useTranslations("settings.account.sessions");
  const announce = useAnnounce();
  const ending = useEndSession();
  const signOut = useSignOut();
  const { error, isPending } = session.current ? signOut : ending;
  const end = () => {
    if (session.current) return signOut.mutate();
    ending.mutate(session.id, {
      onSuccess: () => {
        announce(t("ended", { count: left }));
        onEnded();
      },
    });
  };
  return { end, isBusy: isPending, trouble: error?.message ?? null };
}

interface EverywhereProps {
  act: "endOther" | "endAll";
  onEnded: () => void;
}

/** The button, and the question before it. */
function Everywhere({ act, onEnded }: EverywhereProps) {
  const t = useTranslations("settings.account.sessions");
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button onClick={() => setAsking(true)}>{t(act)}</Button>
      {isAsking && <Question act={act} onEnded={onEnded} onClose={() => setAsking(false)} />}
    </>
  );
}

function Question({ act, onEnded, onClose }: EverywhereProps & { onClose: () => void }) {
  const t = useTranslations("settings.account.sessions");
  const announce = useAnnounce();
  const client = useQueryClient();
  const others = useEndOthers();
  const all = useEndAll();
  const { error, isPending } = act === "endAll" ? all : others;
  const end = () => {
    if (act === "endAll") return all.mutate();
    others.mutate(undefined, {
      onSuccess: ({ ended }) => {
        announce(t("endedOthers", { count: ended }));
        onClose();
        void client.invalidateQueries({ queryKey: ["settings", "sessions"] });
        requestAnimationFrame(onEnded);
      },
    });
  };
  return (
    <Dialog title={t(`${act}Title`)} onClose={onClose}>
      <p>{t(`${act}What`)}</p>
      {error && (
        <p role="alert" className={lists.trouble}>
          {t("failed", { message: error.message })}
        </p>
      )}
      <div className={lists.actions}>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button look="danger" onClick={end} disabled={isPending}>
          {t(act)}
        </Button>
      </div>
    </Dialog>
  );
}
