import { type ComponentType, lazy, Suspense, useMemo } from "react";
import words from "@/text/agent-words.module.css";
import { Lines } from "./lines";

interface Words {
  text: string;
  isInert: boolean;
}

const AgentMarkdown = lazy(async (): Promise<{ default: ComponentType<Words> }> => {
  return await import("@/chat/markdown/markdown").catch(() => ({ default: Plain }));
});

/** What an agent means to do, as Markdown that leads nowhere; until that is there, as the text it is. */
export function Plan({ text }: { text: string }) {
  const lines = useMemo(() => text.split("\n"), [text]);
  return (
    <div className={words.words} data-plan data-lines={lines.length}>
      <Suspense fallback={<Plain text={text} />}>
        <AgentMarkdown text={text} isInert />
      </Suspense>
    </div>
  );
}

function Plain({ text }: Pick<Words, "text">) {
  const lines = useMemo(() => text.split("\n"), [text]);
  return <Lines lines={lines} />;
}
