import type { InboxEntry } from "interlock-client/inbox";

type Titled = Pick<InboxEntry, "conversation_title" | "tool" | "headline">;

/** The title of its conversation, where that says more than what is asked: without one of its own it is made of that. */
export function ownTitle({ conversation_title: title, tool, headline }: Titled): string | null {
  const isMade = (tool !== null && `${title} `.startsWith(`${tool} `)) || headline.startsWith(title.replace(/…$/, ""));
  return title && !isMade ? title : null;
}
