import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { type Preferences, prefer, usePreferences } from "@/preferences/store";
import { useNotify } from "@/shell/notifications";
import styles from "./settings.module.css";

/** What a person chose for this browser. */
export function PreferencesSection() {
  const t = useTranslations("settings.preferences");
  const { language, theme, shortcuts } = usePreferences();
  return (
    <>
      <p className={styles.what}>{t("what")}</p>
      <Choice
        title={t("language")}
        name="language"
        value={language}
        options={{ auto: t("auto"), "zh-CN": t("zh"), en: t("en") }}
      />
      <Choice
        title={t("theme")}
        name="theme"
        value={theme}
        options={{ auto: t("themeAuto"), light: t("light"), dark: t("dark") }}
      />
      <Group title={t("shortcuts")}>
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={shortcuts}
            onChange={(event) => prefer({ shortcuts: event.target.checked })}
          />
          {t("shortcutsOn")}
        </label>
        <p className={styles.hint}>{t("shortcutsWhat")}</p>
      </Group>
      <Notifications />
    </>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className={styles.group}>
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

function Choice<N extends "language" | "theme">(props: {
  title: string;
  name: N;
  value: Preferences[N];
  options: Record<Preferences[N], string>;
}) {
  const { title, name, value, options } = props;
  return (
    <Group title={title}>
      {Object.entries<string>(options).map(([one, text]) => (
        <label key={one} className={styles.check}>
          <input type="radio" name={name} checked={value === one} onChange={() => prefer({ [name]: one })} />
          {text}
        </label>
      ))}
    </Group>
  );
}

function Notifications() {
  const t = useTranslations("settings.preferences");
  const words = useTranslations("shell.notify");
  const { state, enable, disable } = useNotify();
  return (
    <Group title={t("notifications")}>
      <p className={styles.hint}>{t("notificationsWhat")}</p>
      <p role="status">
        {state === "off" ? t("notifyOff") : words(state)} {/* Where they are blocked, that is said already. */}
        {(state === "off" || state === "on") && t("permission", { state: t(`permissionState.${permission()}`) })}
      </p>
      {state === "off" && <Button onClick={() => void enable()}>{words("enable")}</Button>}
      {state === "on" && <Button onClick={disable}>{words("disable")}</Button>}
    </Group>
  );
}

function permission(): NotificationPermission | "none" {
  return "Notification" in globalThis ? Notification.permission : "none";
}
