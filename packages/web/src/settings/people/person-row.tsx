import type { PersonEntry } from "interlock-client/wire";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { usePerson, useWelcome } from "@/api/session";
import { Button } from "@/design/button";
import { useAnnounce } from "@/shell/announcer";
import { Revealed } from "@/text/revealed";
import lists from "../settings.module.css";
import { useDay } from "../use-day";
import { useSetAllowed } from "./api";
import { IdentitiesDialog } from "./identities-dialog";
import { DeleteDialog, KeepOutDialog } from "./leave-dialogs";
import styles from "./people.module.css";
import { RoleDialog } from "./role-dialog";
import { TroubleText } from "./trouble-text";

interface Props {
  person: PersonEntry;
  /** The row is not there any more. */
  onGone: () => void;
}

type Asked = "role" | "identities" | "keepOut" | "delete";

export function PersonRow({ person, onGone }: Props) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const allowing = useSetAllowed(person);
  return (
    <li className={lists.item}>
      <div className={lists.about}>
        <Facts person={person} />
        <TroubleText error={allowing.error} name={person.username} />
      </div>
      <Acts person={person} onAsk={setAsked} onAllow={() => allowing.mutate(true)} />
      {asked && <Asking {...{ asked, person, onGone }} onClose={() => setAsked(null)} />}
    </li>
  );
}

function Facts({ person }: { person: PersonEntry }) {
  const t = useTranslations("settings.people");
  const own = usePerson();
  const day = useDay();
  const { role, reviews } = person;
  return (
    <>
      <p className={lists.main}>
        <span>{person.username}</span>
        <span className={lists.badge}>{t(`role.${role}`)}</span>
        {person.user_id === own.user_id && <span className={lists.badge}>{t("you")}</span>}
        {!person.allowed && <span className={`${lists.badge} ${styles.out}`}>{t("kept")}</span>}
      </p>
      <p className={lists.facts}>
        {role === "reviewer" && (
          <span>{reviews.length > 0 ? t("reviews", { agents: reviews.join(", ") }) : t("reviewsNone")}</span>
        )}
        <span>{t("since", { time: day(person.created_at) })}</span>
        {(person.identities ?? []).map((one) => (
          <span key={one.id}>
            {t("identity")} <Revealed text={one.label || one.subject} />
          </span>
        ))}
      </p>
      {(person.identities ?? []).some((one) => one.groups_left_out) && <p className={lists.trouble}>{t("leftOut")}</p>}
    </>
  );
}

interface ActsProps {
  person: PersonEntry;
  onAsk: (asked: Asked) => void;
  onAllow: () => void;
}

/** Nobody keeps themselves out, or deletes themselves, by a slip on this page. */
function Acts({ person, onAsk, onAllow }: ActsProps) {
  const t = useTranslations("settings.people");
  const isOwn = usePerson().user_id === person.user_id;
  const provider = useWelcome().data?.sign_on;
  const of = (act: "change" | "identities" | "keepOut" | "letIn" | "delete") => ({
    "aria-label": t("of", { act: t(act), name: person.username }),
    children: t(act),
  });
  return (
    <div className={styles.acts}>
      <Button {...of("change")} onClick={() => onAsk("role")} />
      {provider && person.allowed && <Button {...of("identities")} onClick={() => onAsk("identities")} />}
      {!isOwn && person.allowed && <Button {...of("keepOut")} onClick={() => onAsk("keepOut")} />}
      {!isOwn && !person.allowed && <Button {...of("letIn")} onClick={onAllow} />}
      {!isOwn && <Button {...of("delete")} className={styles.delete} onClick={() => onAsk("delete")} />}
    </div>
  );
}

function Asking({ asked, person, onGone, onClose }: Props & { asked: Asked; onClose: () => void }) {
  const t = useTranslations("settings.people");
  const announce = useAnnounce();
  const name = person.username;
  const done = (said: string) => {
    announce(said);
    onClose();
  };
  if (asked === "role") {
    const changed = ({ role }: PersonEntry) => done(t("changed", { name, role: t(`role.${role}`) }));
    return <RoleDialog person={person} onChanged={changed} onClose={onClose} />;
  }
  if (asked === "identities") return <IdentitiesDialog person={person} onClose={onClose} />;
  if (asked === "keepOut")
    return <KeepOutDialog person={person} onDone={() => done(t("blocked", { name }))} onClose={onClose} />;
  const gone = () => {
    done(t("deleted", { name }));
    requestAnimationFrame(onGone);
  };
  return <DeleteDialog person={person} onDone={gone} onClose={onClose} />;
}
