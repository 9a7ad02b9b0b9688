import { type ReactNode, useEffect, useMemo } from "react";
import { IntlProvider } from "use-intl";
import { setLocale } from "@/api/transport";
import { usePreferences } from "@/preferences/store";
import { en, zh } from "./messages";

declare module "use-intl" {
  interface AppConfig {
    Messages: typeof en;
    Locale: Locale;
  }
}

export type Locale = "zh-CN" | "en";

/** The language that was chosen, else the first of the browser's that is one of ours. */
export function useLocale(): Locale {
  const { language } = usePreferences();
  if (language !== "auto") return language;
  const first = navigator.languages.find((one) => /^(zh|en)\b/i.test(one));
  return first?.toLowerCase().startsWith("zh") ? "zh-CN" : "en";
}

export function Texts({ children }: { children: ReactNode }) {
  const locale = useLocale();
  const messages = locale === "en" ? en : zh;
  // Before anything is asked of the server in this language.
  useMemo(() => setLocale(locale, messages.shell.broke), [locale, messages]);
  useEffect(() => {
    document.documentElement.lang = locale;
  }, [locale]);
  const zone = useMemo(() => Intl.DateTimeFormat().resolvedOptions().timeZone, []);
  return (
    <IntlProvider locale={locale} messages={messages} timeZone={zone}>
      {children}
    </IntlProvider>
  );
}
