import type { InboxRequest } from "interlock-client/inbox";
import type { ReactNode } from "react";
import { Revealed } from "@/text/revealed";
import { doubtOf } from "./model/bodies";

/** A name that an agent gave, among words of ours. */
export function Name({ text }: { text: string }) {
  return (
    <code>
      <Revealed text={text} />
    </code>
  );
}

/** For the places of messages that name what the request is about. */
export function namesIn(request: InboxRequest): Record<"tool" | "agent", () => ReactNode> {
  const tool = request.tool ?? doubtOf(request)?.tool ?? "";
  return { tool: () => <Name key="tool" text={tool} />, agent: () => <Name key="agent" text={request.agent} /> };
}
