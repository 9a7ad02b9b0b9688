/** Following a stream over any number of connections: nothing is missed, nothing is told twice. */
import { Forbidden, NetworkError, NotFound } from "./errors.js";
import { Patience } from "./patience.js";
import type { Frame } from "./sse.js";
import { type Call, isPassing, type Stream, type Transport } from "./transport.js";

/** One stream, from one place in the log on. */
export class Follower {
  readonly #transport: Transport;
  readonly #call: Call;
  #patience: Patience;
  #reached = false;
  #last: string | undefined;
  /** Told since the last numbered frame: only the last frame of an entry of the log has its number. */
  #unnumbered: Frame[] = [];
  /** What therefore comes again on this connection. */
  #again: Frame[] = [];

  /** Whether the stream is a log of one conversation: its frames have numbers, and it may end. */
  readonly #isLog: boolean;

  constructor(transport: Transport, call: Call, lastEventId?: string, isLog = true) {
    this.#isLog = isLog;
    this.#transport = transport;
    this.#call = call;
    this.#last = lastEventId;
    this.#patience = new Patience(transport.patience);
  }

  /** Until the conversation is deleted, or what stands against it is more than a broken connection. */
  async *frames(): AsyncGenerator<Frame> {
    for (;;) {
      let trouble: unknown = new NetworkError(`${this.#transport.baseUrl} ended the stream`);
      try {
        yield* this.#connection();
      } catch (error) {
        trouble = error;
      }
      if (this.#isDeleted(trouble)) return;
      if (!isPassing(trouble)) throw trouble;
      await this.#patience.pause(trouble, this.#call.signal);
    }
  }

  async *#connection(): AsyncGenerator<Frame> {
    const stream: Stream = await this.#transport.stream(this.#resuming());
    // What was there once is waited for without end.
    if (!this.#reached) this.#patience = new Patience(Number.POSITIVE_INFINITY);
    this.#reached = true;
    try {
      for await (const frame of stream.frames) {
        if (!this.#isNew(frame) || !frame.data) continue;
        this.#patience.renew();
        yield frame;
      }
    } finally {
      stream.close();
    }
  }

  #isDeleted(error: unknown): boolean {
    return this.#isLog && this.#reached && (error instanceof Forbidden || error instanceof NotFound);
  }

  #resuming(): Call {
    this.#again = this.#unnumbered;
    this.#unnumbered = [];
    const headers: Record<string, string> = this.#last === undefined ? {} : { "last-event-id": this.#last };
    return { ...this.#call, headers: { ...this.#call.headers, ...headers } };
  }

  #isNew(frame: Frame): boolean {
    if (!this.#isLog) return true;
    if (frame.id !== undefined) {
      this.#last = frame.id;
      this.#unnumbered = [];
    } else {
      this.#unnumbered.push(frame);
    }
    const [expected, ...later] = this.#again;
    const isAgain = expected?.event === frame.event && expected.text === frame.text;
    this.#again = isAgain ? later : [];
    return !isAgain;
  }
}

export async function* followed<T>(follower: Follower, told: (frame: Frame) => T): AsyncGenerator<T> {
  for await (const frame of follower.frames()) yield told(frame);
}
