/** Talking to the agents that a server hosts. */
import { NetworkError } from "../errors.js";
import { type ChatEvent, chatEvent } from "../events.js";
import { Follower, followed } from "../following.js";
import { textOf } from "../json.js";
import { Patience } from "../patience.js";
import type { Frame } from "../sse.js";
import { type Call, didNothing, isPassing, type Stream, segment } from "../transport.js";
import type { History, Message, Session, SessionEntry, SessionList, ThreadStatus } from "../wire.js";
import { Asking } from "./asking.js";
import type { Abortable } from "./part.js";
import type { FollowOptions } from "./requests.js";

export interface RunOptions extends Abortable {
  /** Leaving the iteration stops the run, unless it is detached. */
  detached?: boolean;
}

export interface ResumeOptions extends RunOptions {
  /** With `answer`: one for each question. */
  /** Texts; what a free interrupt asks takes any JSON. */
  answers?: unknown[];
  /** What is being replied to; a reply to anything else is then refused. */
  requestId?: string;
  /** With `cancel`: what the agent is told. */
  reason?: string;
}

export abstract class Threads extends Asking {
  /** A new thread with an agent of the server, its default one unless one is named. */
  async createThread(agent?: string, options: Abortable = {}): Promise<string> {
    const call = { method: "POST", path: "/api/sessions", body: this.body({ agent }), signal: options.signal } as const;
    return (await this.fetched<Session>(call)).thread_id;
  }

  /** The caller's threads, the one last touched first. */
  async *threads(options: Abortable & { pageSize?: number } = {}): AsyncGenerator<SessionEntry> {
    let seen = 0;
    for (let page = 1; ; page += 1) {
      const query = { page, page_size: options.pageSize ?? 20 };
      const found = await this.got<SessionList>("/api/sessions", query, options.signal);
      yield* found.threads;
      seen += found.threads.length;
      if (found.threads.length === 0 || seen >= found.total) return;
    }
  }

  /** Delete a thread for good: what runs is stopped, what is pending is cancelled. */
  async deleteThread(threadId: string, options: Abortable = {}): Promise<void> {
    const path = `/api/sessions/${segment(threadId)}`;
    await this.transport.fetch({ method: "DELETE", path, signal: options.signal });
  }

  /** Whether a thread waits for a person, and for what. */
  async status(threadId: string, options: Abortable = {}): Promise<ThreadStatus> {
    return this.got<ThreadStatus>(`/api/status/${segment(threadId)}`, {}, options.signal);
  }

  async history(threadId: string, options: Abortable = {}): Promise<Message[]> {
    return (await this.got<History>(`/api/history/${segment(threadId)}`, {}, options.signal)).messages;
  }

  /** Send a message, to a new thread unless one is named, and tell what the agent does until it ends or waits. */
  chat(message: string, options: RunOptions & { threadId?: string; agent?: string } = {}): AsyncGenerator<ChatEvent> {
    const body = this.body({ message, thread_id: options.threadId, agent: options.agent });
    return this.#run(posting("/api/chat", body, options));
  }

  /**
   * Reply to what a thread waits for, and tell what the agent does then.
   *
   * A reply that does not fit gives `error` and `end` with the action `error`, and everything is still pending.
   */
  resume(
    threadId: string,
    action: "continue" | "cancel" | "answer",
    options: ResumeOptions = {},
  ): AsyncGenerator<ChatEvent> {
    const { answers, requestId, reason } = options;
    const body = this.body({ action, answers, request_id: requestId, reason });
    return this.#run(posting(`/api/resume/${segment(threadId)}`, body, options));
  }

  /** Everything that happens on a thread from now on, or since an event. It resumes by itself. */
  followThread(threadId: string, options: FollowOptions = {}): AsyncGenerator<ChatEvent> {
    const follower = new Follower(this.transport, streamOf(threadId, options.signal), options.lastEventId);
    return followed(follower, chatEvent);
  }

  /** The stream of a POST. When it breaks off it is followed to its end: sent again it would be a new message. */
  async *#run(call: Call): AsyncGenerator<ChatEvent> {
    for await (const frame of this.#frames(call)) {
      const event = chatEvent(frame);
      yield event;
      if (event.type === "end") return;
    }
  }

  async *#frames(call: Call): AsyncGenerator<Frame> {
    const stream = await this.#begun(call);
    const seen = { thread: decodeURIComponent(stream.headers.get("x-thread-id") ?? ""), last: "" };
    try {
      yield* told(stream, seen);
    } catch (error) {
      if (!isPassing(error) || !seen.last) throw error;
    } finally {
      stream.close();
    }
    if (!seen.last) throw new NetworkError(`${this.transport.baseUrl} ended the stream before anything was told`);
    yield* new Follower(this.transport, streamOf(seen.thread, call.signal), seen.last).frames();
  }

  async #begun(call: Call): Promise<Stream> {
    const patience = new Patience(this.transport.patience);
    for (;;) {
      try {
        return await this.transport.stream(call);
      } catch (error) {
        if (!isPassing(error) || !didNothing(error)) throw error;
        await patience.pause(error, call.signal);
      }
    }
  }
}

/** What the stream tells; `seen` is how far it came. */
async function* told(stream: Stream, seen: { thread: string; last: string }): AsyncGenerator<Frame> {
  for await (const frame of stream.frames) {
    seen.last = frame.id ?? seen.last;
    seen.thread ||= textOf(frame.data?.thread_id);
    if (frame.data) yield frame;
  }
}

function posting(path: string, body: Call["body"], options: RunOptions): Call {
  const headers: Record<string, string> = options.detached ? { "x-on-disconnect": "continue" } : {};
  return { method: "POST", path, body, headers, signal: options.signal };
}

function streamOf(threadId: string, signal: AbortSignal | undefined): Call {
  return { method: "GET", path: `/api/stream/${segment(threadId)}`, repeatable: true, signal };
}
