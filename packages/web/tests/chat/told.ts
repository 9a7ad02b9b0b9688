/** Events as the threads face tells them, and conversations made of them. */
import type { ChatEvent } from "interlock-client/events";
import type { RequestView } from "interlock-client/wire";
import { type Action, conversed, type Told } from "@/chat/state/conversation";
import { type Conversation, EMPTY, type Said } from "@/chat/state/model";

const thread_id = "ann-1";

export function piece(id: string, content: string, reset = false): ChatEvent {
  return { type: "messages/partial", thread_id, id, content, reset };
}

export function start(id: string, tool: string, call_id: string, input: unknown = {}): ChatEvent {
  return { type: "tool/start", thread_id, id, tool, call_id, input };
}

export function finish(
  id: string,
  tool: string,
  call_id: string,
  output = "",
  status: "success" | "failed" | "refused" = "success",
): ChatEvent {
  return { type: "tool/end", thread_id, id, tool, call_id, output, status };
}

export function asks(id: string, ...requests: RequestView[]): ChatEvent {
  return { type: "interrupt", thread_id, id, info: "", requests };
}

export function failure(message: string): ChatEvent {
  return { type: "error", thread_id, id: undefined, message };
}

export function end(id?: string): ChatEvent {
  return { type: "end", thread_id, id, action: undefined };
}

export function approval(request_id: string, call_id: string | null, tool_name = "write_file"): RequestView {
  return request(request_id, "approval", call_id, { tool_name, args: { path: request_id } });
}

export function request(
  request_id: string,
  kind: RequestView["kind"],
  call_id: string | null,
  request_data: Record<string, unknown> = {},
): RequestView {
  const texts = { info: "", taskName: "", questions: null, created_at: "2026-01-31T09:30:00Z", expires_at: null };
  return { request_id, kind, call_id, request_data, ...texts };
}

export function told(...events: ChatEvent[]): Action {
  return { type: "told", events: events.map((event): Told => ({ event, at: null })) };
}

export function toldAt(at: number, event: ChatEvent): Action {
  return { type: "told", events: [{ event, at }] };
}

export function history(...messages: [Said["role"], string][]): Action {
  return { type: "history", messages: messages.map(([role, content]) => ({ role, content })) };
}

export function having(...actions: Action[]): Conversation {
  return actions.reduce(conversed, EMPTY);
}

/** What is shown, in short: `> text` for people, tools with their state, requests by id. */
export function shown(conversation: Conversation): string[] {
  const earlier = conversation.earlier.map(({ role, content }) => `${role}: ${content}`);
  const turns = conversation.turns.flatMap(({ user, items }) => [
    `> ${user ?? "?"}`,
    ...items.map((item) => {
      if (item.type === "text") return item.text;
      if (item.type === "tool") return `${item.name}(${item.callId}) ${item.state}`;
      if (item.type === "failure") return `! ${item.message}`;
      return `[${item.asked.map((one) => one.id).join(", ")}]`;
    }),
  ]);
  return [...earlier, ...turns];
}
