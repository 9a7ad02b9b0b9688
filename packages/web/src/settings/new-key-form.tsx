import type { KeyMade, KeyRole } from "interlock-client/wire";
import { type FormEvent, useId, useState } from "react";
import { useTranslations } from "use-intl";
import { serverNow } from "@/api/clock";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Field } from "@/design/field";
import { useCopy } from "@/request/copy";
import { type NewKey, useMakeKey } from "./api";
import { expiryAfter, SPANS, type Span } from "./key-facts";
import styles from "./settings.module.css";

const LONGEST_NAME = 64;

interface Draft {
  name: string;
  role: KeyRole;
  agent: string;
  span: Span;
}

const FIRST: Draft = { name: "", role: "agent", agent: "", span: 90 };

export function NewKeyForm() {
  const t = useTranslations("settings");
  const making = useMakeKey();
  const [draft, setDraft] = useState(FIRST);
  const change = (changed: Partial<Draft>) => setDraft((before) => ({ ...before, ...changed }));
  const make = (event: FormEvent) => {
    event.preventDefault();
    making.mutate(keyOf(draft), { onSuccess: () => change({ name: "", agent: "" }) });
  };
  return (
    <form className={styles.form} onSubmit={make}>
      <h2>{t("keys.make")}</h2>
      <Fields draft={draft} onChange={change} />
      {making.isError && (
        <p className={styles.trouble} role="alert">
          {t("failed", { message: making.error.message })}
        </p>
      )}
      <Button type="submit" look="primary" disabled={making.isPending || !draft.name.trim()}>
        {making.isPending ? t("keys.making") : t("keys.make")}
      </Button>
      {making.data && <Made made={making.data} onClose={making.reset} />}
    </form>
  );
}

function keyOf({ name, role, agent, span }: Draft): NewKey {
  const named = role === "agent" && agent.trim() ? agent.trim() : undefined;
  return { name: name.trim(), role, agent: named, expires_at: expiryAfter(span, serverNow()) };
}

function Fields({ draft, onChange }: { draft: Draft; onChange: (changed: Partial<Draft>) => void }) {
  const t = useTranslations("settings.keys");
  return (
    <>
      <Field
        label={t("name")}
        rule={t("nameHint")}
        value={draft.name}
        required
        maxLength={LONGEST_NAME}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <Role role={draft.role} onRole={(role) => onChange({ role })} />
      {draft.role === "agent" && (
        <Field
          label={t("agentName")}
          rule={t("agentNameHint")}
          value={draft.agent}
          maxLength={LONGEST_NAME}
          onChange={(event) => onChange({ agent: event.target.value })}
        />
      )}
      <SpanChoice span={draft.span} onSpan={(span) => onChange({ span })} />
    </>
  );
}

function SpanChoice({ span, onSpan }: { span: Span; onSpan: (span: Span) => void }) {
  const t = useTranslations("settings.keys");
  return (
    <label className={styles.field}>
      <strong>{t("expires")}</strong>
      <select value={span} onChange={(event) => onSpan(Number(event.target.value) as Span)}>
        {SPANS.map((days) => (
          <option key={days} value={days}>
            {days === 0 ? t("never") : days === 365 ? t("year") : t("days", { count: days })}
          </option>
        ))}
      </select>
    </label>
  );
}

function Role({ role, onRole }: { role: KeyRole; onRole: (role: KeyRole) => void }) {
  const t = useTranslations("settings.keys");
  return (
    <fieldset className={styles.group}>
      <legend>{t("role")}</legend>
      {(["agent", "person"] as const).map((one) => (
        <label key={one} className={styles.check}>
          <input type="radio" name="role" checked={role === one} onChange={() => onRole(one)} />
          {t(one)}
        </label>
      ))}
    </fieldset>
  );
}

/** The only time that the key is there to be seen. */
function Made({ made, onClose }: { made: KeyMade; onClose: () => void }) {
  const t = useTranslations("settings.keys");
  const { isCopied, copy } = useCopy();
  const field = useId();
  return (
    <Dialog title={t("madeTitle")} isStuck onClose={onClose}>
      <p>{t("madeWhat")}</p>
      <label htmlFor={field} className={styles.field}>
        {t("key")}
      </label>
      <div className={styles.made}>
        <input
          id={field}
          className={styles.secret}
          readOnly
          value={made.key}
          onFocus={(event) => event.currentTarget.select()}
        />
        <Button onClick={() => void copy(made.key)}>{isCopied ? t("copied") : t("copy")}</Button>
      </div>
      <div className={styles.actions}>
        <Button look="primary" onClick={onClose}>
          {t("close")}
        </Button>
      </div>
    </Dialog>
  );
}
