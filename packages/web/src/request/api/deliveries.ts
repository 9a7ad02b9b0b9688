/**
 * Answers on their way. Each is sent once. Of one that got no reply the server is asked by its key what became of it;
 * where it came to nothing it is for its sender to choose again: a yes of an hour ago is none now.
 */
import {
  AlreadySettled,
  InterlockError,
  NetworkError,
  NotAuthenticated,
  RateLimited,
  ServerFailed,
  ServerUnavailable,
} from "interlock-client/errors";
import type { Present, Recalled, Settled } from "interlock-client/inbox";
import { didNothing } from "interlock-client/transport";
import { presentPerson, whenPersonLeaves } from "@/api/person";
import { get, newKey, postOnce } from "@/api/transport";

/** What was sent, for the words of the receipt. */
export type Act = "accept" | "edit" | "reject" | "response" | "answer" | "cancel";

export type Delivery =
  | { state: "sending"; act: Act }
  | { state: "unsure"; act: Act }
  | { state: "done"; act: Act; settled: Settled }
  /** Somebody else, or the deadline, was first. */
  | { state: "late"; act: Act; error: AlreadySettled }
  /** No reply came, and the server says that it took nothing, and will not. */
  | { state: "lost"; act: Act }
  /** The server took none of it, and said why. */
  | { state: "refused"; act: Act; error: InterlockError };

/** What a page says to the server, and asks of it. */
export interface Line {
  post(path: string, body: object, key: string, signal: AbortSignal): Promise<Settled>;
  /** What became of what was posted there. Null: nothing, and nothing will. */
  recall(path: string, key: string): Promise<Settled | null>;
  /** In whose name the server would take an answer now. */
  whose(): Promise<string>;
}

const LINE: Line = {
  post: postOnce,
  recall: async (path, key) => (await postOnce<Recalled>(`${path}/recall`, {}, key)).settled,
  whose: async () => (await get<Present>("/api/v1/session")).user_id,
};

const PAUSES = [500, 1_000, 2_000, 3_000];

export class Deliveries {
  readonly #found = new Map<string, Delivery>();
  readonly #watchers = new Set<() => void>();
  readonly #waking = new Set<() => void>();
  readonly #sending = new Set<AbortController>();
  #round = 0;

  constructor(
    readonly line: Line = LINE,
    readonly pauses: readonly number[] = PAUSES,
  ) {}

  get(requestId: string): Delivery | null {
    return this.#found.get(requestId) ?? null;
  }

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** What was settled, or refused, has been seen. What is under way stays. */
  forget(requestId: string): void {
    const state = this.get(requestId)?.state;
    if (state === "sending" || state === "unsure") return;
    this.#found.delete(requestId);
    this.#tell();
  }

  /** The server may be there again: do not wait for the end of the pause. */
  hurry(): void {
    for (const wake of [...this.#waking]) wake();
  }

  /** There is no connection: what is on its way is not to arrive when there is one again. */
  cut(): void {
    for (const one of this.#sending) one.abort(new NetworkError("the connection was lost"));
  }

  /** Whoever sent them has left: nothing of it is sent again, or shown to the next one. */
  abandon(): void {
    this.#round += 1;
    this.#found.clear();
    this.hurry();
    this.#tell();
  }

  /**
   * Goes on when the page that sent it is left, and ends with the session that it began in. Whether it got its reply: what
   * became of an answer without one may come to be known an hour later.
   */
  async send(requestId: string, path: string, body: object, act: Act): Promise<boolean> {
    const state = this.get(requestId)?.state;
    if (state === "sending" || state === "unsure" || state === "done") return state === "done";
    this.#set(requestId, { state: "sending", act });
    const round = this.#round;
    const sent = { path, key: newKey(), act, person: presentPerson() };
    let delivery = await this.#post(sent, body);
    const isHeard = delivery !== null;
    for (let tries = 1; round === this.#round; tries += 1) {
      this.#set(requestId, delivery ?? { state: "unsure", act });
      if (delivery) return isHeard;
      await this.#pause(tries);
      if (round === this.#round) delivery = await this.#recall(sent);
    }
    return false;
  }

  /** Null: nobody knows what became of it. */
  async #post({ path, key, act }: Sent, body: object): Promise<Delivery | null> {
    const sending = new AbortController();
    this.#sending.add(sending);
    try {
      return { state: "done", act, settled: await this.line.post(path, body, key, sending.signal) };
    } catch (error) {
      if (error instanceof AlreadySettled) return { state: "late", act, error };
      const known = error instanceof InterlockError ? error : new InterlockError(String(error));
      return isOpen(known) && !isCertain(known) ? null : { state: "refused", act, error: known };
    } finally {
      this.#sending.delete(sending);
    }
  }

  async #recall({ path, key, act, person }: Sent): Promise<Delivery | null> {
    try {
      // Of another one's keys the server knows nothing, and would say that nothing was done.
      if (person !== null && (await this.line.whose()) !== person) return { state: "unsure", act };
      const settled = await this.line.recall(path, key);
      return settled ? { state: "done", act, settled } : { state: "lost", act };
    } catch {
      return null;
    }
  }

  #pause(tries: number): Promise<void> {
    const milliseconds = this.pauses[Math.min(tries, this.pauses.length) - 1] ?? 0;
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waking.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds);
      this.#waking.add(wake);
    });
  }

  #set(requestId: string, delivery: Delivery): void {
    this.#found.set(requestId, delivery);
    this.#tell();
  }

  #tell(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}

interface Sent {
  path: string;
  key: string;
  act: Act;
  /** Who sent it first. */
  person: string | null;
}

/** Whether it says nothing of what was sent. */
function isOpen(error: InterlockError): boolean {
  const kinds = [NetworkError, RateLimited, ServerUnavailable, ServerFailed, NotAuthenticated];
  return kinds.some((kind) => error instanceof kind);
}

/** Whether it is known that nothing was done. */
function isCertain(error: InterlockError): boolean {
  return error instanceof NotAuthenticated || (didNothing(error) && !(error instanceof ServerFailed));
}

export const deliveries = new Deliveries();
whenPersonLeaves(() => deliveries.abandon());
