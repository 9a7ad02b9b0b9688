/** What a person does to a thread: says something, has a failed run tried again, stops it. */
import type { ConversationStopped } from "interlock-client/inbox";
import { segment } from "interlock-client/transport";
import type { History, Session } from "interlock-client/wire";
import { whenPersonLeaves } from "@/api/person";
import { api, get, post } from "@/api/transport";

/** The run goes on, whoever leaves the page. */
const DETACHED = { "x-on-disconnect": "continue" };

export async function beginThread(agent: string): Promise<string> {
  return (await post<Session>("/api/sessions", { agent })).thread_id;
}

/** Until the server has the message; what comes of it is told on the thread's own stream. */
export async function say(thread: string, message: string): Promise<void> {
  await accepted(`/api/chat/${segment(thread)}`, { message });
}

/** Go on from where the last run failed, with the answers on record. */
export async function tryAgain(thread: string): Promise<void> {
  await accepted(`/api/resume/${segment(thread)}`, { action: "continue" });
}

async function accepted(path: string, body: Record<string, unknown>): Promise<void> {
  const stream = await api().stream({ method: "POST", path, body, headers: DETACHED });
  stream.close();
}

/** Whether a message arrived of which that is not known: `count` is how many the thread had before. */
export async function arrived(thread: string, message: string, count: number, signal: AbortSignal): Promise<boolean> {
  const { messages } = await get<History>(`/api/history/${segment(thread)}`, {}, signal);
  const said = messages.filter((one) => one.role === "user");
  return said.length > count && said.at(-1)?.content === message;
}

/**
 * Stop what runs, and cancel what waits; a tool under way is let finish, and its end is told on the stream. `false`:
 * there was nothing to stop.
 */
export async function stop(thread: string): Promise<boolean> {
  return (await post<ConversationStopped>(`/api/v1/inbox/conversations/${segment(thread)}/stop`)).stopped;
}

const begun = new Map<string, string>();
whenPersonLeaves(() => begun.clear());

/** The thread is opened next, and what was said in it is known already. */
export function beginWith(thread: string, message: string): void {
  begun.set(thread, message);
}

export function begunWith(thread: string): string | null {
  return begun.get(thread) ?? null;
}

export function forgetBegun(thread: string): void {
  begun.delete(thread);
}
