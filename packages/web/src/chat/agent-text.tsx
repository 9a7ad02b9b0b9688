import { lazy, Suspense, useDeferredValue } from "react";
import { Revealed } from "@/text/revealed";
import styles from "./conversation.module.css";

const AgentMarkdown = lazy(() => import("./markdown/markdown"));

/** What the agent says. Until Markdown is there, and while it cannot keep up, the text is shown as it is. */
export function AgentText({ text }: { text: string }) {
  const settled = useDeferredValue(text);
  return (
    <div className={styles.agent}>
      <Suspense fallback={<Revealed text={text} multiline />}>
        <AgentMarkdown text={settled} />
      </Suspense>
    </div>
  );
}
