/** One thread, followed over any number of connections. */
import { NotAuthenticated } from "interlock-client/errors";
import { type ChatEvent, chatEvent } from "interlock-client/events";
import { Follower, followed } from "interlock-client/following";
import type { Frame } from "interlock-client/sse";
import { type Call, type Stream, segment, Transport } from "interlock-client/transport";

const TIMEOUT = 30_000;
/** For the first connection; after that a stream is waited for without end. */
const PATIENCE = 3_000;

export interface Connections {
  /** A connection is there: what was being written on the one before may be written anew on this one. */
  opened(): void;
  /** One is being tried: there is none now. */
  lost(): void;
  /** The session has ended: resolves when somebody is signed in again. */
  signedIn(): Promise<void>;
}

class ToldTransport extends Transport {
  readonly #connections: Connections;

  constructor(locale: string, connections: Connections) {
    const nobody = { credential: undefined, user: undefined, fetch: undefined };
    super({ baseUrl: location.origin, ...nobody, locale, timeout: TIMEOUT, patience: PATIENCE });
    this.#connections = connections;
  }

  override async stream(call: Call): Promise<Stream> {
    this.#connections.lost();
    try {
      const stream = await super.stream(call);
      this.#connections.opened();
      return stream;
    } catch (error) {
      if (!(error instanceof NotAuthenticated)) throw error;
      await this.#connections.signedIn();
      return this.stream(call);
    }
  }
}

interface Options {
  locale: string;
  signal: AbortSignal;
  connections?: Connections;
}

const UNTOLD: Connections = { opened: () => {}, lost: () => {}, signedIn: () => new Promise(() => {}) };

/** Everything that ever happened on the thread, then what happens; until it is deleted. */
export function followAll(
  thread: string,
  { locale, signal, connections = UNTOLD }: Options,
): AsyncGenerator<ChatEvent> {
  const call = { method: "GET", path: `/api/stream/${segment(thread)}`, repeatable: true, signal } as const;
  return followed(new Follower(new ToldTransport(locale, connections), call, "0"), eventOf);
}

function eventOf(frame: Frame): ChatEvent {
  const isCall = frame.event === "tool/start" || frame.event === "interrupt";
  return chatEvent(isCall ? { ...frame, data: JSON.parse(frame.text, asWritten) } : frame);
}

/** Spelled again they would be others: JavaScript has no numbers above 2^53, and takes 5.0 for 5. */
function asWritten(_name: string, value: unknown, context?: { source?: string }): unknown {
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
  const text = typeof value === "number" ? context?.source : undefined;
  return text === undefined || text === String(value) ? value : (rawJSON?.(text) ?? value);
}
