import { type ComponentType, lazy, useEffect } from "react";
import { useTranslations } from "use-intl";
import { useConnection } from "@/api/live-context";
import { Failed } from "./failed";
import { PageTitle } from "./page-title";
import styles from "./states.module.css";

/** A page whose code is loaded when somebody first goes there. */
export function lazyPage(load: () => Promise<ComponentType>) {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (error) {
      return { default: notLoaded(error instanceof Error ? error : new Error(String(error))) };
    }
  });
}

/** Browsers do not ask twice for code that did not come: it comes with all of the app, once there is a connection again. */
function notLoaded(error: Error): ComponentType {
  let since: number | undefined;
  return function NotLoaded() {
    const t = useTranslations("shell");
    const { state, openings } = useConnection();
    useEffect(() => {
      since ??= openings;
      if (openings !== since) location.reload();
    }, [openings]);
    if (state === "live") return <Failed error={error} onRetry={() => location.reload()} />;
    return (
      <div className={styles.state} role="status">
        <PageTitle name="not-loaded">{t("notLoaded")}</PageTitle>
      </div>
    );
  };
}
