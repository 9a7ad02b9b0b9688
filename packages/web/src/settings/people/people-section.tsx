import type { PersonEntry } from "interlock-client/wire";
import { useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { Failed } from "@/shell/failed";
import { Loading } from "@/shell/loading";
import lists from "../settings.module.css";
import { useDay } from "../use-day";
import { usePeople } from "./api";
import styles from "./people.module.css";
import { PersonRow } from "./person-row";

/** From so many on there is a field to find one by. */
const MANY = 8;

/** Everybody with an account; who is gone stands below. */
export function PeopleSection() {
  const t = useTranslations("settings.people");
  const people = usePeople();
  return (
    <div className={styles.section}>
      <p className={lists.what}>{t("what")}</p>
      {people.isPending && <Loading />}
      {people.isError && <Failed error={people.error} onRetry={() => void people.refetch()} />}
      {people.data && <People people={people.data.people} />}
    </div>
  );
}

function People({ people }: { people: PersonEntry[] }) {
  const t = useTranslations("settings.people");
  const [wanted, setWanted] = useState("");
  const place = useRef<HTMLParagraphElement>(null);
  const present = people.filter((one) => one.deleted_at === null);
  const gone = people.filter((one) => one.deleted_at !== null);
  const found = present.filter((one) => one.username.toLowerCase().includes(wanted.trim().toLowerCase()));
  return (
    <>
      {present.length >= MANY && (
        <input
          type="search"
          className={styles.search}
          value={wanted}
          aria-label={t("search")}
          placeholder={t("search")}
          onChange={(event) => setWanted(event.target.value)}
        />
      )}
      <p className={styles.count} ref={place} tabIndex={-1}>
        {t("count", { count: found.length })}
      </p>
      {found.length === 0 && <p>{t("noMatch")}</p>}
      {found.length > 0 && (
        <ul className={lists.list}>
          {found.map((one) => (
            <PersonRow key={one.user_id} person={one} onGone={() => place.current?.focus()} />
          ))}
        </ul>
      )}
      {gone.length > 0 && <Gone people={gone} />}
    </>
  );
}

function Gone({ people }: { people: PersonEntry[] }) {
  const t = useTranslations("settings.people");
  const day = useDay();
  return (
    <details className={lists.old}>
      <summary>{t("gone", { count: people.length })}</summary>
      <ul className={lists.list}>
        {people.map((one) => (
          <li key={one.user_id} className={lists.item}>
            <div className={lists.about}>
              <p className={lists.main}>{one.username}</p>
              <p className={lists.facts}>{t("goneSince", { time: day(one.deleted_at) })}</p>
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}
