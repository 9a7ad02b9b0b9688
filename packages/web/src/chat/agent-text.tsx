import { type ComponentType, lazy, Suspense, useDeferredValue } from "react";
import { Revealed } from "@/text/revealed";
import styles from "./conversation.module.css";

interface Words {
  text: string;
}

const AgentMarkdown = lazy(async (): Promise<{ default: ComponentType<Words> }> => {
  return await import("./markdown/markdown").catch(() => ({ default: Plain }));
});

/** What the agent says. Until Markdown is there, where it does not come, and while it cannot keep up, the text is shown as it is. */
export function AgentText({ text }: Words) {
  const settled = useDeferredValue(text);
  return (
    <div className={styles.agent}>
      <Suspense fallback={<Plain text={text} />}>
        <AgentMarkdown text={settled} />
      </Suspense>
    </div>
  );
}

function Plain({ text }: Words) {
  return <Revealed text={text} multiline />;
}
