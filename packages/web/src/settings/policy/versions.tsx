import { Conflict } from "interlock-client/errors";
import type { PolicyHistory, PolicyVersionEntry } from "interlock-client/wire";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Revealed } from "@/text/revealed";
import lists from "../settings.module.css";
import { useDay } from "../use-day";
import { useActivate, useShadow } from "./api";
import styles from "./policy.module.css";
import { Shadow } from "./shadow";

interface Props {
  history: PolicyHistory;
  onEdit: (version: number) => void;
}

/** Every version that was saved: who by, when and why; which counts, and which is in shadow. */
export function Versions({ history, onEdit }: Props) {
  const t = useTranslations("settings.policy");
  if (history.versions.length === 0) return <p className={lists.none}>{t("noVersions")}</p>;
  return (
    <ul className={lists.list}>
      {history.versions.map((one) => (
        <Version key={one.version} entry={one} history={history} onEdit={onEdit} />
      ))}
    </ul>
  );
}

function Version({ entry, history, onEdit }: Props & { entry: PolicyVersionEntry }) {
  const t = useTranslations("settings.policy");
  const day = useDay();
  const { version, by, note, created_at } = entry;
  const isActive = version === history.active;
  const isShadow = version === history.shadow;
  return (
    <li className={lists.item}>
      <div className={lists.about}>
        <p className={lists.main}>
          {t("version", { version })}
          {isActive && <span className={`${lists.badge} ${styles.active}`}>{t("active")}</span>}
          {isShadow && <span className={lists.badge}>{t("inShadow")}</span>}
        </p>
        <p className={lists.facts}>
          <span>{t("savedBy", { who: by, time: day(created_at) })}</span>
          {note && (
            <span className={styles.note}>
              <Revealed text={note} />
            </span>
          )}
        </p>
      </div>
      <div className={styles.acts}>
        <Button aria-label={t("editOf", { version })} onClick={() => onEdit(version)}>
          {t("edit")}
        </Button>
        <Activation to={isActive ? null : version} version={version} history={history} />
        <ShadowSwitch to={isShadow ? null : version} version={version} history={history} />
      </div>
      {isShadow && <Shadow number={version} />}
    </li>
  );
}

interface SwitchProps {
  /** None: what is on is put off. */
  to: number | null;
  version: number;
  history: PolicyHistory;
}

/** What counts is changed after a second look: from which version to which. */
function Activation({ to, version, history }: SwitchProps) {
  const t = useTranslations("settings.policy");
  const [seen, setSeen] = useState<number | null | undefined>(undefined);
  const act = to === null ? "deactivate" : "activate";
  return (
    <>
      <Button aria-label={t(`${act}Of`, { version })} onClick={() => setSeen(history.active)}>
        {t(act)}
      </Button>
      {seen !== undefined && (
        <ConfirmActivation to={to} expected={seen} active={history.active} onClose={() => setSeen(undefined)} />
      )}
    </>
  );
}

interface ConfirmProps {
  to: number | null;
  expected: number | null;
  active: number | null;
  onClose: () => void;
}

function ConfirmActivation({ to, expected, active, onClose }: ConfirmProps) {
  const t = useTranslations("settings.policy");
  const words = useTranslations("settings");
  const activate = useActivate();
  // Also where it is known before anything is sent: what is confirmed is what was seen.
  const isPast = activate.error instanceof Conflict || (active !== expected && !activate.isSuccess);
  const isOff = to === null;
  return (
    <Dialog title={isOff ? t("deactivateTitle") : t("activateTitle", { version: to })} onClose={onClose}>
      <p>{expected === null ? t("fromNone") : t("from", { version: expected })}</p>
      <p>{t(isOff ? "deactivateWhat" : "activateWhat")}</p>
      <Trouble error={activate.error} isPast={isPast} active={active} />
      <div className={lists.actions}>
        <Button onClick={onClose}>{words("cancel")}</Button>
        <Button
          look={isOff ? "danger" : "primary"}
          disabled={activate.isPending || isPast}
          onClick={() => activate.mutate({ to, expected }, { onSuccess: onClose })}
        >
          {t(isOff ? "deactivate" : "activate")}
        </Button>
      </div>
    </Dialog>
  );
}

function Trouble({ error, isPast, active }: { error: Error | null; isPast: boolean; active: number | null }) {
  const t = useTranslations("settings.policy");
  const words = useTranslations("settings");
  if (!isPast && !error) return null;
  const conflict = active === null ? t("conflictNone") : t("conflict", { version: active });
  return (
    <p className={lists.trouble} role="alert">
      {isPast ? conflict : words("failed", { message: error?.message ?? "" })}
    </p>
  );
}

/** It decides nothing, so that nothing is asked before. */
function ShadowSwitch({ to, version, history }: SwitchProps) {
  const t = useTranslations("settings.policy");
  const shadow = useShadow();
  const act = to === null ? "shadowOff" : "shadowOn";
  return (
    <>
      <Button
        aria-label={t(`${act}Of`, { version })}
        disabled={shadow.isPending}
        onClick={() => shadow.mutate({ to, expected: history.shadow ?? null })}
      >
        {t(act)}
      </Button>
      {shadow.isError && (
        <p className={lists.trouble} role="alert">
          {shadow.error instanceof Conflict
            ? t("shadowConflict")
            : t("shadowFailed", { message: shadow.error.message })}
        </p>
      )}
    </>
  );
}
