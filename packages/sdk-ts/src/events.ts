/** Events as the streams of the client tell them: fields have the names of the wire, `type` tells them apart. */
import { ServerFailed } from "./errors.js";
import type { InboxEntry } from "./inbox.js";
import { type JsonObject, objectOf, textOf } from "./json.js";
import type { Frame } from "./sse.js";
import type { RequestView } from "./wire.js";

const ASKED = ["permission_asked", "clarification_asked", "decision_asked", "env_var_requested"] as const;
const SETTLED = [
  "permission_replied",
  "clarification_answered",
  "decision_answered",
  "env_var_provided",
  "request_cancelled",
  "request_expired",
] as const;

interface Numbered {
  /** Its place in the log: `lastEventId` of a later `follow`. */
  id: string | undefined;
}

export interface RequestAsked extends Numbered {
  type: (typeof ASKED)[number];
  request_id: string;
  conversation_id: string;
  /** What is asked, with `created_at` and `expires_at`. */
  data: JsonObject;
}

export interface RequestSettled extends Numbered {
  type: (typeof SETTLED)[number];
  request_id: string;
  conversation_id: string;
  /** `response` (redacted), `answered_at`, `answered_by`, `source`. */
  data: JsonObject;
}

/** What this version does not know. */
export interface OtherEvent extends Numbered {
  type: "other";
  name: string;
  data: JsonObject;
}

export type RequestEvent = RequestAsked | RequestSettled | OtherEvent;

/** What becomes of what waits, over all conversations. `entry` is the request as it was when it was asked. */
export type InboxEvent =
  | { type: "asked"; entry: InboxEntry }
  | {
      type: "settled";
      entry: InboxEntry;
      status: "answered" | "cancelled" | "expired";
      answered_by: string | null;
      answered_at: string | null;
      source: string | null;
      /** The answer, secret values as `***`; null without one. */
      value: JsonObject | null;
      /** Why it was refused or cancelled, in the words of who did. */
      reason: string | null;
    }
  | { type: "extended"; entry: InboxEntry; expires_at: string }
  /** Where it stands with its people is not as before; `missed`: that was while there was no connection. */
  | { type: "changed"; entry: InboxEntry; what: "voted" | "claimed" | "routed" | "commented" | "missed" }
  /** Its conversation was deleted, or is not the caller's to see any more. */
  | { type: "gone"; entry: InboxEntry };

/** What was told of as asked, by its id, and not yet of its end. */
export type Waiting = Map<string, InboxEntry>;

/** A piece of the agent's text; with `reset` the whole of it so far, in place of the pieces before. */
export interface Partial extends Numbered {
  type: "messages/partial";
  thread_id: string;
  content: string;
  reset: boolean;
}

export interface ToolStart extends Numbered {
  type: "tool/start";
  thread_id: string;
  tool: string;
  input: unknown;
  call_id: string;
}

export interface ToolEnd extends Numbered {
  type: "tool/end";
  thread_id: string;
  tool: string;
  output: string;
  status: "success" | "failed" | "refused";
  call_id: string;
  /** Why it never ran; `undefined`: it ran. */
  outcome?: "refused" | "replied" | "cancelled" | "expired" | undefined;
}

/** The agent waits for a person. */
export interface Interrupt extends Numbered {
  type: "interrupt";
  thread_id: string;
  info: string;
  requests: RequestView[];
}

export interface AgentFailed extends Numbered {
  type: "error";
  thread_id: string;
  message: string;
}

export interface End extends Numbered {
  type: "end";
  thread_id: string;
  /** After `resume`: what was done, or `error` when the reply did not fit and everything is still pending. */
  action: string | undefined;
}

export type ChatEvent = Partial | ToolStart | ToolEnd | Interrupt | AgentFailed | End | OtherEvent;

/** What a frame of the inbox's stream tells that was not told before; of what never waited here, nothing. */
export function* inboxEvents(frame: Frame, waiting: Waiting): Generator<InboxEvent> {
  const data = frame.data ?? {};
  const id = textOf(data.request_id);
  const entry = waiting.get(id);
  if (!entry && isAsking(frame.event)) {
    needs(frame, ["request_id", "conversation_id"]);
    const asked = data as unknown as InboxEntry;
    waiting.set(id, asked);
    yield { type: "asked", entry: asked };
  } else if (frame.event === "settled" && entry) {
    waiting.delete(id);
    const { status, answered_by, answered_at, source, value, reason = null } = data as unknown as How;
    yield { type: "settled", entry, status, answered_by, answered_at, source, value, reason };
  } else if (frame.event === "extended" && entry) {
    yield { type: "extended", entry, expires_at: textOf(data.expires_at) };
  } else if (entry && isChange(frame.event)) {
    yield { type: "changed", entry, what: frame.event };
  } else if (frame.event === "deleted") {
    yield* goneWith(textOf(data.conversation_id), waiting);
  }
}

/** Also what was asked before, and is put to the caller only now. */
function isAsking(name: string): boolean {
  return name === "asked" || name === "routed";
}

/** What a list of all that waits tells, by its id, that was not told before. */
export function* newsOf(listed: Waiting, waiting: Waiting): Generator<InboxEvent> {
  for (const [id, entry] of listed) {
    const before = waiting.get(id);
    if (before && JSON.stringify(before.people) === JSON.stringify(entry.people)) continue;
    waiting.set(id, entry);
    yield before ? { type: "changed", entry, what: "missed" } : { type: "asked", entry };
  }
}

type Change = Extract<InboxEvent, { type: "changed" }>["what"];

function isChange(name: string): name is Change {
  return ["voted", "claimed", "routed", "commented"].includes(name);
}

type How = Omit<Extract<InboxEvent, { type: "settled" }>, "type" | "entry">;

function* goneWith(conversationId: string, waiting: Waiting): Generator<InboxEvent> {
  for (const entry of [...waiting.values()]) {
    if (entry.conversation_id !== conversationId) continue;
    waiting.delete(entry.request_id);
    yield { type: "gone", entry };
  }
}

export function requestEvent(frame: Frame): RequestEvent {
  const fields = frame.data ?? {};
  if (![...ASKED, ...SETTLED].some((name) => name === frame.event)) return other(frame);
  needs(frame, ["request_id", "conversation_id"]);
  return {
    type: frame.event as RequestAsked["type"],
    request_id: textOf(fields.request_id),
    conversation_id: textOf(fields.conversation_id),
    data: objectOf(fields.data),
    id: frame.id,
  };
}

/** Whether an event tells that something is asked. */
export function isAsked(event: RequestEvent): event is RequestAsked {
  return ASKED.some((name) => name === event.type);
}

/** Whether an event tells that a request is over: answered, cancelled or expired. */
export function isSettled(event: RequestEvent): event is RequestSettled {
  return SETTLED.some((name) => name === event.type);
}

export function chatEvent(frame: Frame): ChatEvent {
  const read = CHAT[frame.event];
  if (!read) return other(frame);
  needs(frame, ["thread_id"]);
  const fields = frame.data ?? {};
  return read(fields, { thread_id: textOf(fields.thread_id), id: frame.id });
}

function other(frame: Frame): OtherEvent {
  return { type: "other", name: frame.event, data: frame.data ?? {}, id: frame.id };
}

function needs(frame: Frame, names: string[]): void {
  if (names.some((name) => typeof frame.data?.[name] !== "string")) {
    throw new ServerFailed(`an event of the stream is not of the form: ${frame.event}`);
  }
}

interface Where extends Numbered {
  thread_id: string;
}

const CHAT: Readonly<Record<string, (fields: JsonObject, where: Where) => ChatEvent>> = {
  "messages/partial": (fields, where) => ({
    ...where,
    type: "messages/partial",
    content: textOf(fields.content),
    reset: fields.reset === true,
  }),
  "tool/start": (fields, where) => ({
    ...where,
    type: "tool/start",
    tool: textOf(fields.tool),
    input: fields.input,
    call_id: textOf(fields.call_id),
  }),
  "tool/end": (fields, where) => ({
    ...where,
    type: "tool/end",
    tool: textOf(fields.tool),
    output: textOf(fields.output),
    status: fields.status as ToolEnd["status"],
    call_id: textOf(fields.call_id),
    outcome: fields.outcome as ToolEnd["outcome"],
  }),
  interrupt: (fields, where) => ({
    ...where,
    type: "interrupt",
    info: textOf(fields.info),
    requests: (Array.isArray(fields.requests) ? fields.requests : []) as RequestView[],
  }),
  error: (fields, where) => ({ ...where, type: "error", message: textOf(fields.message) }),
  end: (fields, where) => ({
    ...where,
    type: "end",
    action: typeof fields.action === "string" ? fields.action : undefined,
  }),
};
