/** One stream over everything that this person may see, open for as long as the page is. */
import { NetworkError, NotAuthenticated } from "interlock-client/errors";
import type { InboxEntry, Votes } from "interlock-client/inbox";
import { type JsonObject, textOf } from "interlock-client/json";
import { setServerTime } from "./clock";
import { api } from "./transport";

export interface Settled {
  request_id: string;
  conversation_id: string;
  status: "answered" | "cancelled" | "expired";
  answered_by: string | null;
  answered_at: string;
  source: string | null;
  /** Redacted where it is secret. */
  value: JsonObject | null;
  /** Why it was not answered, where somebody said so. */
  reason?: string | null;
}

export type LiveEvent =
  /** The stream is open: whatever was told before may be out of date. */
  | { type: "hello" }
  | { type: "asked"; entry: InboxEntry }
  | { type: "settled"; settled: Settled }
  | { type: "extended"; requestId: string; expiresAt: string }
  | { type: "looking"; requestId: string; names: string[] }
  /** Somebody voted, or took their yes back. */
  | { type: "voted"; requestId: string; votes: Votes }
  /** Null: nobody has it any more. */
  | { type: "claimed"; requestId: string; by: string | null; until: string | null }
  | { type: "commented"; requestId: string }
  /** It was put to more people: for some of them it is new. */
  | { type: "routed"; entry: InboxEntry }
  | { type: "deleted"; conversationId: string }
  /** Some events were lost: list again. */
  | { type: "reset" };

export interface Connection {
  state: "connecting" | "live" | "offline";
  /** How often the stream has been opened: what was read before it was opened again may be out of date. */
  openings: number;
  /** When the connection was lost, by this machine's clock. */
  since: number | null;
  /** When the server told of another start than before. */
  restartedAt: number | null;
}

type Listener = (event: LiveEvent) => void;

const PAUSES = [250, 500, 1_000, 2_000, 3_000];
/** The server says something every 4 s. */
const BEAT = 1_000;
const SILENT_BEATS = 10;

export class Live {
  #connection: Connection = { state: "connecting", openings: 0, since: null, restartedAt: null };
  #started: string | null = null;
  #ending = new AbortController();
  #retry = () => {};
  #cut = () => {};
  readonly #listeners = new Set<Listener>();
  readonly #watchers = new Set<() => void>();

  constructor(readonly onSignedOut: () => void) {}

  get connection(): Connection {
    return this.#connection;
  }

  listen = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** Resolves when the stream is open the next time. */
  reopened = (): Promise<void> =>
    new Promise((resolve) => {
      const { openings } = this.#connection;
      const stop = this.watch(() => {
        if (this.#connection.openings === openings) return;
        stop();
        resolve();
      });
    });

  /** Try to connect now, not after the pause. */
  retry = (): void => this.#retry();

  async open(): Promise<void> {
    this.#ending = new AbortController();
    const ending = this.#ending;
    addEventListener("offline", () => this.#cut(), { signal: ending.signal });
    addEventListener("online", () => this.#retry(), { signal: ending.signal });
    for (let tries = 0; !ending.signal.aborted; tries += 1) {
      try {
        await this.#follow(ending.signal, () => {
          tries = 0;
        });
      } catch (error) {
        if (error instanceof NotAuthenticated) {
          this.#lost();
          return this.onSignedOut();
        }
      }
      if (ending.signal.aborted) return;
      this.#lost();
      await this.#pause(PAUSES[Math.min(tries, PAUSES.length - 1)] ?? 0, ending.signal);
    }
  }

  close(): void {
    this.#ending.abort();
  }

  async #follow(ending: AbortSignal, reached: () => void): Promise<void> {
    const own = new AbortController();
    this.#cut = () => own.abort(new NetworkError("there is no network"));
    const silence = new Silence(() => own.abort(new NetworkError("the server says nothing")));
    try {
      const signal = AbortSignal.any([ending, own.signal]);
      const query = { drills: true };
      const stream = await api().stream({ method: "GET", path: "/api/v1/inbox/stream", query, signal });
      for await (const frame of stream.frames) {
        reached();
        silence.broken();
        this.#take(frame.event, frame.data ?? {});
      }
    } finally {
      silence.close();
      own.abort();
    }
  }

  #take(name: string, data: JsonObject): void {
    if (typeof data.server_time === "string") setServerTime(data.server_time);
    if (name === "hello") this.#reached(typeof data.started_at === "string" ? data.started_at : null);
    const event = eventOf(name, data);
    if (event) for (const listener of [...this.#listeners]) listener(event);
  }

  #reached(started: string | null): void {
    const isOther = this.#started !== null && started !== null && this.#started !== started;
    this.#started = started ?? this.#started;
    const restartedAt = isOther ? Date.now() : this.#connection.restartedAt;
    this.#set({ state: "live", openings: this.#connection.openings + 1, since: null, restartedAt });
  }

  #lost(): void {
    this.#set({ ...this.#connection, state: "offline", since: this.#connection.since ?? Date.now() });
  }

  #set(connection: Connection): void {
    this.#connection = connection;
    for (const watcher of [...this.#watchers]) watcher();
  }

  #pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#retry = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener("abort", this.#retry, { once: true });
    });
  }
}

/** Counted in beats, not by the clock: a machine that slept has not listened meanwhile. */
class Silence {
  #beats = 0;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(lasts: () => void) {
    this.#timer = setInterval(() => {
      this.#beats += 1;
      if (this.#beats >= SILENT_BEATS) lasts();
    }, BEAT);
  }

  broken(): void {
    this.#beats = 0;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function eventOf(name: string, data: JsonObject): LiveEvent | null {
  const requestId = String(data.request_id);
  switch (name) {
    case "hello":
      return { type: "hello" };
    case "asked":
      return { type: "asked", entry: data as unknown as InboxEntry };
    case "settled":
      return { type: "settled", settled: data as unknown as Settled };
    case "extended":
      return { type: "extended", requestId, expiresAt: String(data.expires_at) };
    case "looking":
      return { type: "looking", requestId, names: Array.isArray(data.names) ? data.names.map(String) : [] };
    case "voted":
    case "claimed":
    case "commented":
    case "routed":
      return teamEventOf(name, requestId, data);
    case "deleted":
      return { type: "deleted", conversationId: String(data.conversation_id) };
    case "reset":
      return { type: "reset" };
    default:
      return null;
  }
}

function teamEventOf(
  name: "voted" | "claimed" | "commented" | "routed",
  requestId: string,
  data: JsonObject,
): LiveEvent {
  switch (name) {
    case "voted":
      return { type: "voted", requestId, votes: data.votes as unknown as Votes };
    case "claimed":
      return { type: "claimed", requestId, by: textOf(data.by) || null, until: textOf(data.until) || null };
    case "commented":
      return { type: "commented", requestId };
    case "routed":
      return { type: "routed", entry: data as unknown as InboxEntry };
  }
}
