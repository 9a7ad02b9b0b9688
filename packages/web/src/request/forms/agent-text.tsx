import type { ReactNode } from "react";
import { Revealed } from "@/text/revealed";
import styles from "./forms.module.css";

/** A short text of the agent's among words of ours: on the agent's own ground. */
export function AgentText({ text }: { text: string }) {
  return (
    <span className={styles.agent}>
      <Revealed text={text} />
    </span>
  );
}

/** What is wrong with a field, beside it. */
export function Wrong({ id, children }: { id?: string; children: ReactNode }) {
  if (!children) return null;
  return (
    <p id={id} className={styles.wrong}>
      {children}
    </p>
  );
}
