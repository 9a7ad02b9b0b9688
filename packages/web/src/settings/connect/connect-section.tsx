import type { KeyMade } from "interlock-client/wire";
import { Check, Copy, Hourglass } from "lucide-react";
import { useEffect, useId, useState } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { serverNow } from "@/api/clock";
import { usePerson } from "@/api/session";
import { Button } from "@/design/button";
import { useCopy } from "@/request/copy";
import { useAnnounce } from "@/shell/announcer";
import { Revealed } from "@/text/revealed";
import { useMakeKey } from "../api";
import { expiryAfter } from "../key-facts";
import settings from "../settings.module.css";
import styles from "./connect.module.css";
import { HOST_NAMES, HOSTS, type Host, type HostName, type Paste, type Place } from "./hosts";
import { useFirstAsk } from "./use-first-ask";

/** The lines that let an agent elsewhere ask here, with a key of its own, and whether they work. */
export function ConnectSection() {
  const t = useTranslations("settings.connect");
  const [name, setName] = useState<HostName>("claude");
  const field = useId();
  return (
    <>
      <p className={settings.what}>{t("what")}</p>
      <div className={settings.field}>
        <label htmlFor={field}>
          <strong>{t("agent")}</strong>
        </label>
        <select id={field} value={name} onChange={(event) => setName(event.target.value as HostName)}>
          {HOST_NAMES.map((one) => (
            <option key={one} value={one}>
              {t(`host.${one}`)}
            </option>
          ))}
        </select>
      </div>
      {/* A key is for the one agent that it was made for. */}
      <Connecting key={name} name={name} host={HOSTS[name]} />
    </>
  );
}

function Connecting({ name, host }: { name: HostName; host: Host }) {
  const t = useTranslations("settings.connect");
  const { auth } = usePerson();
  const making = useMakeKey();
  const [since] = useState(serverNow);
  const made = making.data;
  return (
    <div className={styles.steps}>
      <p>{t(`about.${name}`)}</p>
      {host.isUntested && (
        <p className={styles.untested}>
          <strong>{t("untested")}</strong>
        </p>
      )}
      {auth === "accounts" && !made && <MakeKey name={name} host={host} making={making} />}
      {(made || auth === "none") && <Lines name={name} host={host} made={made} since={since} />}
    </div>
  );
}

function MakeKey({ name, host, making }: { name: HostName; host: Host; making: ReturnType<typeof useMakeKey> }) {
  const t = useTranslations("settings");
  const make = () =>
    making.mutate({
      name: t(`connect.host.${name}`),
      role: "agent",
      agent: host.agent,
      expires_at: expiryAfter(365, serverNow()),
    });
  return (
    <>
      <p className={settings.hint}>{t("connect.makeWhat")}</p>
      {making.isError && (
        <p className={settings.trouble} role="alert">
          {t("failed", { message: making.error.message })}
        </p>
      )}
      <Button look="primary" disabled={making.isPending} onClick={make}>
        {t(making.isPending ? "keys.making" : "connect.make")}
      </Button>
    </>
  );
}

interface LinesProps {
  name: HostName;
  host: Host;
  made: KeyMade | undefined;
  since: number;
}

function Lines({ name, host, made, since }: LinesProps) {
  const t = useTranslations("settings.connect");
  const place: Place = { url: location.origin, key: made?.key ?? null };
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const pastes = host.pastes.filter((paste) => paste.text(place));
  return (
    <>
      {made && <p className={styles.once}>{t("once")}</p>}
      <ol className={styles.pastes}>
        {pastes.map((paste) => (
          <li key={paste.into}>
            <Block paste={paste} place={place} />
          </li>
        ))}
        <li>
          <p>{t(`try.${name}`)}</p>
          <FirstAsk host={host} made={made} since={since} />
        </li>
      </ol>
      {isLocal && <p className={settings.hint}>{t("local", { url: place.url })}</p>}
    </>
  );
}

function Block({ paste, place }: { paste: Paste; place: Place }) {
  const t = useTranslations("settings.connect");
  const run = useTranslations("request.run");
  const { isCopied, copy } = useCopy();
  const text = paste.text(place);
  const Icon = isCopied ? Check : Copy;
  return (
    <>
      <div className={styles.top}>
        <p id={`into-${paste.into}`}>{t(`into.${paste.into}`)}</p>
        <Button look="quiet" onClick={() => void copy(text)} aria-describedby={`into-${paste.into}`}>
          <Icon aria-hidden="true" size={14} /> {isCopied ? run("copied") : run("copy")}
        </Button>
      </div>
      <pre className={styles.lines} data-paste={paste.into}>
        {text}
      </pre>
    </>
  );
}

/** It turns by itself. */
function FirstAsk({ host, made, since }: { host: Host; made: KeyMade | undefined; since: number }) {
  const t = useTranslations("settings.connect");
  const announce = useAnnounce();
  const asked = useFirstAsk({ agent: host.agent, keyId: made?.id ?? null, since });
  const words = asked ? t("received") : null;
  useEffect(() => {
    if (words) announce(words);
  }, [words, announce]);
  if (!asked) {
    return (
      <div className={styles.waiting} data-first="waiting">
        <Hourglass aria-hidden="true" size={16} /> {t("waiting")}
      </div>
    );
  }
  return (
    <div className={styles.received} data-first="received">
      <Check aria-hidden="true" size={16} /> <span>{t("received")}</span>{" "}
      <Link href={`/requests/${encodeURIComponent(asked.request_id)}`}>
        <Revealed text={asked.headline} />
      </Link>
    </div>
  );
}
