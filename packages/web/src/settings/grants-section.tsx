import type { GrantEntry } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { usePerson } from "@/api/session";
import { useWhose } from "@/request/forms/whose";
import { Name } from "@/request/names";
import { useListed } from "./api";
import { EndButton, Read, useEverybody } from "./lists";
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
              <Grant key={grant.id} grant={grant} />
            ))}
          </ul>
        )}
      </Read>
    </>
  );
}

function Grant({ grant }: { grant: GrantEntry }) {
  const t = useTranslations("settings.grants");
  const { user_id } = usePerson();
  const day = useDay();
  const owner = grant.owner || grant.owner_id;
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
          {grant.ceiling && <span>{t(`ceiling.${grant.ceiling}`)}</span>}
          <span>{t("uses", { count: grant.uses, last: day(grant.last_used_at) })}</span>
          {grant.owner_id !== user_id && <span>{t.rich("owner", { owner: () => <Name text={owner} /> })}</span>}
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

function Sentence({ grant: { allow, scope, duration, tool, ...grant } }: { grant: GrantEntry }) {
  const t = useTranslations("request.remember");
  const whose = useWhose(grant.owner || grant.owner_id);
  return t.rich(`${allow ? "allow" : "refuse"}.${scope}.${duration}`, {
    tool: () => <Name text={tool ?? ""} />,
    whose,
  });
}
