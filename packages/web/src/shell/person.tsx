import type { PersonRole } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { usePerson, useSignOut } from "@/api/session";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { ConnectionState } from "./connection-state";
import styles from "./person.module.css";

/** Who is signed in, and what has no place in the bar of a phone. */
export function PersonDialog({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const t = useTranslations("shell");
  const roles = useTranslations("settings.people.role");
  const person = usePerson();
  const hasAccounts = person.auth === "accounts";
  return (
    <Dialog title={t("person.title", { name: person.username })} onClose={onClose}>
      <div className={styles.facts}>
        {!hasAccounts && <p>{t("person.none", { name: person.username })}</p>}
        {hasAccounts && <p>{t("person.role", { role: roles(person.role as PersonRole) })}</p>}
        {person.reviews.length > 0 && <p>{t("person.reviews", { agents: person.reviews.join(", ") })}</p>}
        <ConnectionState />
      </div>
      <div className={styles.acts}>
        <Link href="/settings" className={styles.link} onClick={onClose}>
          {t("nav.settings")}
        </Link>
        <Button
          onClick={() => {
            onClose();
            onHelp();
          }}
        >
          {t("person.keys")}
        </Button>
        {hasAccounts && <SignOut />}
        <Button onClick={onClose}>{t("person.close")}</Button>
      </div>
    </Dialog>
  );
}

function SignOut() {
  const t = useTranslations("shell.person");
  const signOut = useSignOut();
  return (
    <div>
      <Button onClick={() => signOut.mutate()} disabled={signOut.isPending}>
        {t("signOut")}
      </Button>
      <p className="quiet">{t("signOutWhat")}</p>
      {signOut.isError && <p role="alert">{t("failed", { message: signOut.error.message })}</p>}
    </div>
  );
}
