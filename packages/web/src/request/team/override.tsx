import { useId, useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Field } from "@/design/field";
import { withoutEnter } from "@/keys/without-enter";
import { useReview } from "../review";
import styles from "./team.module.css";

const LONGEST_REASON = 2_000;

/** Where the server lets an admin: approving alone what is put to others. It stands apart from the bar on purpose. */
export function Override() {
  const t = useTranslations("request.team");
  const { request, situation } = useReview();
  const [isOpen, setOpen] = useState(false);
  const isOffered = request.people?.may_override && request.kind === "approval" && situation === "open";
  if (!isOffered) return null;
  return (
    <div className={styles.acts}>
      <Button data-act="override" onClick={() => setOpen(true)}>
        {t("override")}
      </Button>
      {isOpen && <OverrideDialog onClose={() => setOpen(false)} />}
    </div>
  );
}

function OverrideDialog({ onClose }: { onClose: () => void }) {
  const t = useTranslations("request.team");
  const { obstacle, code, typed, setTyped, override } = useReview();
  const [reason, setReason] = useState("");
  const id = useId();
  const isOff = obstacle !== null || !reason.trim();
  const send = () => {
    if (isOff) return;
    override(reason.trim());
    onClose();
  };
  return (
    <Dialog title={t("overrideTitle")} onClose={onClose}>
      {/* A yes like any other: no Enter sends it. */}
      <form onSubmit={(event) => event.preventDefault()} className={styles.form}>
        <p className={styles.text}>{t("overrideWhat")}</p>
        {obstacle && obstacle.type !== "code" && <p className={styles.trouble}>{t("overrideUnread")}</p>}
        <label htmlFor={id} className={styles.label}>
          {t("overrideWhy")}
        </label>
        <textarea
          id={id}
          rows={3}
          maxLength={LONGEST_REASON}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        {code !== null && (
          <Field
            label={t("overrideCode")}
            value={typed}
            inputMode="numeric"
            maxLength={4}
            autoComplete="off"
            onChange={(event) => setTyped(event.target.value.replace(/\D/g, ""))}
          />
        )}
        <div className={styles.end}>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button look="danger" aria-disabled={isOff} onKeyDown={withoutEnter} onClick={send}>
            {t("overrideDo")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
