import { useId } from "react";
import { useTranslations } from "use-intl";
import { Heading, Region } from "@/design/outline";
import styles from "./agent-words.module.css";
import { Revealed } from "./revealed";

interface Props {
  text: string;
  /** Whose words they are: what the agent wrote for this request, what it said before, or what its tool says of itself. */
  from?: "written" | "said" | "tool";
}

/** Words that are not ours: apart from what will run, and marked as whose they are. Nothing of them is markup. */
export function AgentWords({ text, from = "written" }: Props) {
  const t = useTranslations("text");
  const heading = useId();
  if (!text) return null;
  return (
    <Region className={from === "tool" ? styles.tool : styles.words} aria-labelledby={heading}>
      <Heading id={heading} className={styles.heading}>
        {t(from)}
      </Heading>
      <Revealed text={text} multiline />
    </Region>
  );
}
