import { useTranslations } from "use-intl";
import styles from "./risk.module.css";

export type Level = "low" | "medium" | "high" | "critical";

const SHAPES: Readonly<Record<Level, string>> = { low: "○", medium: "◆", high: "▲", critical: "▲" };

/** Word and shape: told apart without any colour. What is not said is medium. */
export function Risk({ level }: { level: Level | null }) {
  const t = useTranslations("shell.risk");
  const known = level ?? "medium";
  return (
    <span className={`${styles.risk} ${styles[known]}`}>
      <span aria-hidden="true">{SHAPES[known]}</span> {t(known)}
    </span>
  );
}
