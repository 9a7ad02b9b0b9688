import type { SavedEntry } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { Name } from "@/request/names";
import { useListed } from "./api";
import { EndButton, Owner, Read, useEverybody } from "./lists";
import styles from "./settings.module.css";
import { useDay } from "./use-day";

/** The names of saved values, never the values. */
export function SecretsSection() {
  const t = useTranslations("settings.secrets");
  const { everybody, choice } = useEverybody();
  const secrets = useListed("secrets", everybody);
  return (
    <>
      <p className={styles.what}>{t("what")}</p>
      {choice}
      <Read query={secrets} none={t("none")} isEmpty={(data) => data.secrets.length === 0}>
        {(data) => (
          <ul className={styles.list}>
            {data.secrets.map((saved) => (
              <Saved key={saved.id} saved={saved} withOwner={everybody} />
            ))}
          </ul>
        )}
      </Read>
    </>
  );
}

function Saved({ saved, withOwner }: { saved: SavedEntry; withOwner: boolean }) {
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
