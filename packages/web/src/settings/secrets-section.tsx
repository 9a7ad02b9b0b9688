import type { SavedEntry } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { Name } from "@/request/names";
import { Revealed } from "@/text/revealed";
import { useListed } from "./api";
import { EndButton, Owner, Read, useEverybody } from "./lists";
import styles from "./settings.module.css";
import { useDay } from "./use-day";

/** The names of saved values, never the values. */
export function SecretsSection() {
  const t = useTranslations("settings.secrets");
  const { everybody, choice } = useEverybody();
  const secrets = useListed("secrets", everybody);
  const keys = useListed("keys", everybody);
  const keyNames = new Map<string | null, string>(keys.data?.keys.map(({ id, name }) => [id, name]));
  return (
    <>
      <p className={styles.what}>{t("what")}</p>
      {choice}
      <Read query={secrets} none={t("none")} isEmpty={(data) => data.secrets.length === 0}>
        {(data) => (
          <ul className={styles.list}>
            {data.secrets.map((saved) => (
              <Saved
                key={saved.id}
                saved={saved}
                keyName={keyNames.get(saved.asker_id ?? null)}
                withOwner={everybody}
              />
            ))}
          </ul>
        )}
      </Read>
    </>
  );
}

interface SavedProps {
  saved: SavedEntry;
  /** Of the key that it was saved for; several may have the agent's name. */
  keyName: string | undefined;
  withOwner: boolean;
}

function Saved({ saved, keyName, withOwner }: SavedProps) {
  const t = useTranslations("settings.secrets");
  const day = useDay();
  const words = { act: t("delete"), title: t("deleteTitle"), what: t("deleteWhat"), do: t("deleteDo") };
  return (
    <li className={styles.item}>
      <div className={styles.about}>
        <p className={styles.main}>
          <Name text={saved.name} />
        </p>
        <p className={styles.facts}>
          <span>{t.rich("agent", { agent: () => <Name text={saved.agent} /> })}</span>
          {keyName && (
            <span>
              {t.rich("key", { name: () => <Revealed text={keyName} /> })} · <code>{saved.asker_id}</code>
            </span>
          )}
          <span>{saved.sensitive ? t("sensitive") : t("plain")}</span>
          <span>{t("saved", { who: saved.saved_by, time: day(saved.created_at) })}</span>
          {saved.updated_at !== saved.created_at && <span>{t("updated", { time: day(saved.updated_at) })}</span>}
          {withOwner && <Owner id={saved.owner_id} />}
        </p>
      </div>
      <EndButton list="secrets" id={saved.id} words={words}>
        <Name text={saved.name} />
      </EndButton>
    </li>
  );
}
