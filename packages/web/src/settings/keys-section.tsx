import type { KeyEntry } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { serverNow } from "@/api/clock";
import { Name } from "@/request/names";
import { Revealed } from "@/text/revealed";
import { useListed } from "./api";
import { holds } from "./key-facts";
import { EndButton, Owner, Read, useEverybody } from "./lists";
import { NewKeyForm } from "./new-key-form";
import styles from "./settings.module.css";
import { useDay } from "./use-day";

/** Keys of programs: made, seen once, revoked. */
export function KeysSection() {
  const t = useTranslations("settings.keys");
  const { everybody, choice } = useEverybody();
  const keys = useListed("keys", everybody);
  return (
    <>
      <p className={styles.what}>{t("what")}</p>
      <NewKeyForm />
      {choice}
      <Read query={keys} none={t("none")} isEmpty={(data) => data.keys.length === 0}>
        {(data) => <Keys keys={data.keys} withOwner={everybody} />}
      </Read>
    </>
  );
}

function Keys({ keys, withOwner }: { keys: KeyEntry[]; withOwner: boolean }) {
  const t = useTranslations("settings.keys");
  const now = serverNow();
  const live = keys.filter((key) => holds(key, now));
  const old = keys.filter((key) => !holds(key, now));
  return (
    <>
      {live.length === 0 && <p className={styles.none}>{t("none")}</p>}
      <ul className={styles.list}>
        {live.map((key) => (
          <Key key={key.id} entry={key} withOwner={withOwner} />
        ))}
      </ul>
      {old.length > 0 && (
        <details className={styles.old}>
          <summary>{t("old", { count: old.length })}</summary>
          <ul className={styles.list}>
            {old.map((key) => (
              <Key key={key.id} entry={key} withOwner={withOwner} isOld />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Key({ entry, withOwner, isOld = false }: { entry: KeyEntry; withOwner: boolean; isOld?: boolean }) {
  const t = useTranslations("settings.keys");
  const day = useDay();
  const words = { act: t("revoke"), title: t("revokeTitle"), what: t("revokeWhat"), do: t("revokeDo") };
  return (
    <li className={styles.item}>
      <div className={styles.about}>
        <p className={styles.main}>
          <Revealed text={entry.name} />
        </p>
        <p className={styles.facts}>
          <code>{entry.id}</code>
          <span>
            {entry.role === "person"
              ? t("rolePerson")
              : t.rich("roleAgent", { agent: () => <Name text={entry.agent ?? entry.name} /> })}
          </span>
          <span>{t("created", { time: day(entry.created_at) })}</span>
          <span>{entry.last_used_at ? t("used", { time: day(entry.last_used_at) }) : t("neverUsed")}</span>
          <span>{useEnding(entry, isOld)}</span>
          {withOwner && <Owner id={entry.owner_id} />}
        </p>
      </div>
      {!isOld && (
        <EndButton list="keys" id={entry.id} words={words}>
          <Revealed text={entry.name} /> · <code>{entry.id}</code>
        </EndButton>
      )}
    </li>
  );
}

function useEnding({ revoked_at, expires_at }: KeyEntry, isOld: boolean): string {
  const t = useTranslations("settings.keys");
  const day = useDay();
  if (revoked_at) return t("revoked", { time: day(revoked_at) });
  if (!expires_at) return t("neverExpires");
  return t(isOld ? "expired" : "expiresAt", { time: day(expires_at) });
}
