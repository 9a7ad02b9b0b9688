import { useId } from "react";
import { useTranslations } from "use-intl";
import styles from "./agent-words.module.css";
import { Revealed } from "./revealed";

/** What the agent says of itself: apart from what will run, and marked as the agent's. Nothing of it is markup. */
export function AgentWords({ text }: { text: string }) {
  const t = useTranslations("text");
  const heading = useId();
  if (!text) return null;
  return (
    <section className={styles.words} aria-labelledby={heading}>
      <h2 id={heading} className={styles.heading}>
        {t("written")}
      </h2>
      <Revealed text={text} multiline />
    </section>
  );
}
