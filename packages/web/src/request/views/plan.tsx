import { lazy, Suspense, useMemo } from "react";
import words from "@/text/agent-words.module.css";
import { Lines } from "./lines";

const AgentMarkdown = lazy(() => import("@/chat/markdown/markdown"));

/** What an agent means to do, as Markdown that leads nowhere; until that is loaded, as the text it is. */
export function Plan({ text }: { text: string }) {
  const lines = useMemo(() => text.split("\n"), [text]);
  return (
    <div className={words.words} data-plan data-lines={lines.length}>
      <Suspense fallback={<Lines lines={lines} />}>
        <AgentMarkdown text={text} isInert />
      </Suspense>
    </div>
  );
}
