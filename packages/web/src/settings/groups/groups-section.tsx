import type { Group } from "interlock-client/inbox";
import { useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { useGroups } from "@/api/groups";
import { usePerson } from "@/api/session";
import { Button } from "@/design/button";
import { useAnnounce } from "@/shell/announcer";
import { Revealed } from "@/text/revealed";
import { Read } from "../lists";
import lists from "../settings.module.css";
import { GroupDialog, RemoveDialog } from "./group-dialogs";
import styles from "./groups.module.css";

/** Everybody sees them, since rules and requests name them; admins change them. */
export function GroupsSection() {
  const t = useTranslations("settings.groups");
  const { role } = usePerson();
  const groups = useGroups();
  const isAdmin = role === "admin";
  const place = useRef<HTMLDivElement>(null);
  return (
    <div ref={place} className={styles.section}>
      <p className={lists.what}>
        {t("what")} {!isAdmin && t("whatAdmins")}
      </p>
      {isAdmin && <Make />}
      <Read query={groups} none={t("none")} isEmpty={(found) => found.length === 0}>
        {(found) => (
          <ul className={lists.list}>
            {found.map((one) => (
              <Row
                key={one.name}
                group={one}
                isAdmin={isAdmin}
                onGone={() => place.current?.querySelector("button")?.focus()}
              />
            ))}
          </ul>
        )}
      </Read>
    </div>
  );
}

function Make() {
  const t = useTranslations("settings.groups");
  const announce = useAnnounce();
  const [isOpen, setOpen] = useState(false);
  const done = (name: string) => {
    announce(t("made", { name }));
    setOpen(false);
  };
  return (
    <p>
      <Button onClick={() => setOpen(true)}>{t("make")}</Button>
      {isOpen && <GroupDialog group={null} onDone={done} onClose={() => setOpen(false)} />}
    </p>
  );
}

function Row({ group, isAdmin, onGone }: { group: Group; isAdmin: boolean; onGone: () => void }) {
  const t = useTranslations("settings.groups");
  return (
    <li className={lists.item}>
      <div className={lists.about}>
        <p className={lists.main}>
          <Revealed text={group.name} />
          <span className={lists.badge}>{t("count", { count: group.members.length })}</span>
          {group.source === "oidc" && <span className={lists.badge}>{t("oidc")}</span>}
        </p>
        <p className={lists.facts}>
          <span>
            <Revealed text={group.members.join(", ")} />
          </span>
          {group.source === "oidc" && <span>{t("oidcWhat")}</span>}
        </p>
      </div>
      {isAdmin && group.source === "local" && <Acts group={group} onGone={onGone} />}
    </li>
  );
}

function Acts({ group, onGone }: { group: Group; onGone: () => void }) {
  const t = useTranslations("settings.groups");
  const announce = useAnnounce();
  const [asked, setAsked] = useState<"change" | "delete" | null>(null);
  const { name } = group;
  const close = () => setAsked(null);
  const of = (act: "change" | "delete") => ({
    "aria-label": t("of", { act: t(act), name }),
    children: t(act),
    onClick: () => setAsked(act),
  });
  const done = (said: "changed" | "deleted") => () => {
    announce(t(said, { name }));
    close();
    // The row goes, and the buttons with it.
    if (said === "deleted") requestAnimationFrame(onGone);
  };
  return (
    <div className={styles.acts}>
      <Button {...of("change")} />
      <Button {...of("delete")} className={styles.delete} />
      {asked === "change" && <GroupDialog group={group} onDone={done("changed")} onClose={close} />}
      {asked === "delete" && <RemoveDialog group={group} onDone={done("deleted")} onClose={close} />}
    </div>
  );
}
