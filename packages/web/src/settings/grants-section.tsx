import type { GrantEntry } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { Name } from "@/request/names";
import { useListed } from "./api";
import { EndButton, Owner, Read, useEverybody } from "./lists";
import styles from "./settings.module.css";
import { useDay } from "./use-day";

/** Answers that stand for later asks, in the words in which they were given. */
export function GrantsSection() {
  const t = useTranslations("settings.grants");
  const { everybody, choice } = useEverybody();
  const grants = useListed("grants", everybody);
  return (
    <>
      <p className={styles.what}>{t("what")}</p>
      {choice}
      <Read query={grants} none={t("none")} isEmpty={(data) => data.grants.length === 0}>
        {(data) => (
          <ul className={styles.list}>
            {data.grants.map((grant) => (
              <Grant key={grant.id} grant={grant} withOwner={everybody} />
            ))}
          </ul>
        )}
      </Read>
    </>
  );
}

function Grant({ grant, withOwner }: { grant: GrantEntry; withOwner: boolean }) {
  const t = useTranslations("settings.grants");
  const day = useDay();
  const words = { act: t("revoke"), title: t("revokeTitle"), what: t("revokeWhat"), do: t("revokeDo") };
  return (
    <li className={styles.item}>
      <div className={styles.about}>
        <p className={styles.main}>
          <Sentence grant={grant} />
        </p>
        <p className={styles.facts}>
          <span>{t.rich("agent", { agent: () => <Name text={grant.agent} /> })}</span>
          <span>{t("given", { who: grant.granted_by, time: day(grant.created_at) })}</span>
          <span>{t("uses", { count: grant.uses, last: day(grant.last_used_at) })}</span>
          {withOwner && <Owner id={grant.owner_id} />}
          <Link href={`/requests/${encodeURIComponent(grant.request_id)}`}>{t("request")}</Link>
          {grant.conversation_id && (
            <Link href={`/chat/${encodeURIComponent(grant.conversation_id)}`}>{t("conversation")}</Link>
          )}
        </p>
      </div>
      <EndButton list="grants" id={grant.id} words={words}>
        <Sentence grant={grant} />
      </EndButton>
    </li>
  );
}

function Sentence({ grant: { allow, scope, duration, tool } }: { grant: GrantEntry }) {
  const t = useTranslations("request.remember");
  return t.rich(`${allow ? "allow" : "refuse"}.${scope}.${duration}`, { tool: () => <Name text={tool ?? ""} /> });
}
