import type { Notifications } from "interlock-client/wire";
import { type FormEvent, useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Field } from "@/design/field";
import { fieldMessage } from "@/request/problems";
import { useAnnounce } from "@/shell/announcer";
import lists from "../settings.module.css";
import { useSetWanted } from "./api";
import styles from "./notifications.module.css";

interface Draft {
  isQuiet: boolean;
  start: string;
  end: string;
  zone: string;
  passes: boolean;
  language: "" | "en" | "zh";
  byLink: boolean;
  digest: number | null;
}

function draftOf({ quiet, language, answer_links, digest }: Notifications): Draft {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  return {
    isQuiet: quiet !== null,
    start: quiet?.start ?? "22:00",
    end: quiet?.end ?? "07:00",
    zone: quiet?.zone ?? zone,
    passes: quiet?.high_passes ?? true,
    language: language ?? "",
    byLink: answer_links,
    digest,
  };
}

/** When somebody is told, and in which language; for all channels. */
export function WantedForm({ wanted }: { wanted: Notifications }) {
  const t = useTranslations("settings.notifications");
  const announce = useAnnounce();
  const setting = useSetWanted();
  const [draft, setDraft] = useState(() => draftOf(wanted));
  const change = (changed: Partial<Draft>) => {
    setting.reset();
    setDraft((before) => ({ ...before, ...changed }));
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (setting.isPending) return;
    const { isQuiet, start, end, zone, passes, language, byLink, digest } = draft;
    const quiet = isQuiet ? { start, end, zone: zone.trim(), high_passes: passes } : null;
    const set = { off: wanted.off, quiet, language: language || null, answer_links: byLink, digest };
    setting.mutate(set, { onSuccess: () => announce(t("saved")) });
  };
  return (
    <form className={lists.form} onSubmit={save} noValidate>
      <h2>{t("when")}</h2>
      <label className={lists.check}>
        <input
          type="checkbox"
          checked={draft.isQuiet}
          onChange={(event) => change({ isQuiet: event.target.checked })}
        />
        {t("quiet")}
      </label>
      {draft.isQuiet && <Quiet draft={draft} error={setting.error} onChange={change} />}
      <Digest draft={draft} onChange={change} />
      <Language draft={draft} onChange={change} />
      <label className={lists.check}>
        <input type="checkbox" checked={draft.byLink} onChange={(event) => change({ byLink: event.target.checked })} />
        {t("byLink")}
      </label>
      {draft.byLink && <p className={lists.hint}>{t("byLinkWhat")}</p>}
      {setting.error && !fieldMessage(setting.error, ...FIELDS) && (
        <p role="alert" className={lists.trouble}>
          {t("failed", { message: setting.error.message })}
        </p>
      )}
      <div className={styles.acts}>
        <Button type="submit" look="primary" aria-disabled={setting.isPending}>
          {t("save")}
        </Button>
        {setting.isSuccess && <p className={styles.said}>{t("saved")}</p>}
      </div>
    </form>
  );
}

const TIMES = ["quiet", "quiet.start", "quiet.end", "body.quiet.start", "body.quiet.end"];
const FIELDS = [...TIMES, "quiet.zone"];

interface PartProps {
  draft: Draft;
  onChange: (changed: Partial<Draft>) => void;
}

function Quiet({ draft, error, onChange }: PartProps & { error: Error | null }) {
  const t = useTranslations("settings.notifications");
  const time = { type: "time", autoComplete: "off" } as const;
  return (
    <>
      <p className={lists.hint}>{t("quietWhat")}</p>
      <div className={styles.times}>
        <Field
          label={t("from")}
          {...time}
          value={draft.start}
          onChange={(one) => onChange({ start: one.target.value })}
        />
        <Field
          label={t("until")}
          {...time}
          value={draft.end}
          wrong={fieldMessage(error, ...TIMES) && t("wrongTimes")}
          onChange={(one) => onChange({ end: one.target.value })}
        />
      </div>
      <Field
        label={t("zone")}
        rule={t("zoneRule")}
        wrong={fieldMessage(error, "quiet.zone") && t("wrongZone")}
        value={draft.zone}
        maxLength={64}
        autoComplete="off"
        onChange={(one) => onChange({ zone: one.target.value })}
      />
      <label className={lists.check}>
        <input type="checkbox" checked={draft.passes} onChange={(one) => onChange({ passes: one.target.checked })} />
        {t("passes")}
      </label>
    </>
  );
}

const DIGESTS = [5, 15, 30, 60, 120];

function Digest({ draft, onChange }: PartProps) {
  const t = useTranslations("settings.notifications");
  const { digest } = draft;
  const choices = digest === null || DIGESTS.includes(digest) ? DIGESTS : [...DIGESTS, digest];
  return (
    <>
      <label className={lists.field}>
        <strong>{t("digest")}</strong>
        <select
          value={digest ?? ""}
          onChange={(event) => onChange({ digest: event.target.value ? Number(event.target.value) : null })}
        >
          <option value="">{t("eachAtOnce")}</option>
          {choices.map((minutes) => (
            <option key={minutes} value={minutes}>
              {t("digestEvery", { minutes })}
            </option>
          ))}
        </select>
      </label>
      {digest !== null && <p className={lists.hint}>{t("digestWhat")}</p>}
    </>
  );
}

function Language({ draft, onChange }: PartProps) {
  const t = useTranslations("settings.notifications");
  return (
    <label className={lists.field}>
      <strong>{t("language")}</strong>
      <select
        value={draft.language}
        onChange={(event) => onChange({ language: event.target.value as Draft["language"] })}
      >
        <option value="">{t("serverLanguage")}</option>
        <option value="en">English</option>
        <option value="zh">中文</option>
      </select>
    </label>
  );
}
