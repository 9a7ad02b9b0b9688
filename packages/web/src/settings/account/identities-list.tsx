import type { IdentityEntry } from "interlock-client/wire";
import { useTranslations } from "use-intl";
import { useWelcome } from "@/api/session";
import { useBeginLink } from "@/api/sign-on";
import { Button } from "@/design/button";
import { Failed } from "@/shell/failed";
import { Loading } from "@/shell/loading";
import { Revealed } from "@/text/revealed";
import lists from "../settings.module.css";
import { useDay } from "../use-day";
import styles from "./account.module.css";
import { useIdentities, useUnlink } from "./api";

/** The identities with which a person signs in by single sign-on. */
export function IdentitiesList() {
  const provider = useWelcome().data?.sign_on;
  return provider ? <Identities provider={provider} /> : null;
}

function Identities({ provider }: { provider: string }) {
  const t = useTranslations("settings.account.identities");
  const identities = useIdentities();
  const link = useBeginLink();
  return (
    <section className={styles.section} aria-labelledby="identities">
      <h2 id="identities">{t("title")}</h2>
      <p className={lists.what}>{t("what")}</p>
      {identities.isPending && <Loading />}
      {identities.isError && <Failed error={identities.error} onRetry={() => void identities.refetch()} />}
      {identities.data && (
        <ul className={lists.list}>
          {identities.data.identities.map((one) => (
            <Identity key={one.id} identity={one} />
          ))}
        </ul>
      )}
      <div className={styles.acts}>
        <Button onClick={() => link.mutate()} disabled={link.isPending || link.isSuccess}>
          <span>{t.rich("link", { name: () => <Revealed key="name" text={provider} /> })}</span>
        </Button>
        {link.isError && <p role="alert">{t("failed", { message: link.error.message })}</p>}
      </div>
    </section>
  );
}

function Identity({ identity }: { identity: IdentityEntry }) {
  const t = useTranslations("settings.account.identities");
  const day = useDay();
  const unlink = useUnlink();
  const name = identity.label || identity.subject;
  return (
    <li className={lists.item}>
      <div className={lists.about}>
        <p className={lists.main}>
          <span>
            <Revealed text={name} />
          </span>
        </p>
        <p className={lists.facts}>
          <span>{identity.issuer}</span>
          <span>{identity.used_at ? t("used", { time: day(identity.used_at) }) : t("unused")}</span>
          {identity.groups.length > 0 && (
            <span>
              {t("groups")} <Revealed text={identity.groups.join(", ")} />
            </span>
          )}
        </p>
        {identity.groups_left_out && <p className={lists.trouble}>{t("leftOut")}</p>}
        {unlink.isError && (
          <p role="alert" className={lists.trouble}>
            {t("failed", { message: unlink.error.message })}
          </p>
        )}
      </div>
      <Button
        aria-label={t("unlinkOf", { name })}
        onClick={() => unlink.mutate(identity.id)}
        disabled={unlink.isPending}
      >
        {t("unlink")}
      </Button>
    </li>
  );
}
