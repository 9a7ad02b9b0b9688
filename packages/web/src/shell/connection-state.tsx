import { useFormatter, useTranslations } from "use-intl";
import { useConnection } from "@/api/live-context";
import styles from "./connection.module.css";

const SIGNS = { live: "●", connecting: "◌", offline: "○" } as const;

/** Whether what is on the screen is true at this moment. */
export function ConnectionState() {
  const t = useTranslations("shell.connection");
  const format = useFormatter();
  const { state, since } = useConnection();
  return (
    <span className={`${styles.state} ${styles[state]}`} data-state={state}>
      <span aria-hidden="true">{SIGNS[state]}</span>{" "}
      {state === "offline" ? t("offline", { time: format.dateTime(since ?? Date.now(), CLOCK) }) : t(state)}
    </span>
  );
}

export const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
