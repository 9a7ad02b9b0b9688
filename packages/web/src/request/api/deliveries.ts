/**
 * Answers on their way. One is sent under one key for as long as nobody knows what became of it: the server does it
 * once, and tells every later try what came of the first.
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
import type { Settled } from "interlock-client/inbox";
import { didNothing } from "interlock-client/transport";
import { newKey, postOnce } from "@/api/transport";

/** What was sent, for the words of the receipt. */
export type Act = "accept" | "edit" | "reject" | "response" | "answer" | "cancel";

export type Delivery =
  | { state: "sending"; act: Act }
  | { state: "unsure"; act: Act }
  | { state: "done"; act: Act; settled: Settled }
  /** Somebody else, or the deadline, was first. */
  | { state: "late"; act: Act; error: AlreadySettled }
  /** The server took none of it, and said why. */
  | { state: "refused"; act: Act; error: InterlockError };

type Post = (path: string, body: object, key: string) => Promise<Settled>;

const PAUSES = [500, 1_000, 2_000, 3_000];
/** A server that fails again and again on the same words has not done them. */
const MOST_FAILURES = 4;

export class Deliveries {
  readonly #found = new Map<string, Delivery>();
  readonly #watchers = new Set<() => void>();
  readonly #waking = new Set<() => void>();

  constructor(
    readonly post: Post = postOnce,
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

  /** Goes on when the page that sent it is left. */
  async send(requestId: string, path: string, body: object, act: Act): Promise<void> {
    const state = this.get(requestId)?.state;
    if (state === "sending" || state === "unsure" || state === "done") return;
    this.#set(requestId, { state: "sending", act });
    const key = newKey();
    let isUnsure = false;
    for (let tries = 1; ; tries += 1) {
      const came = await this.#try(path, body, key, act);
      if (came.state !== "failed") return this.#set(requestId, came);
      const isOver = came.error instanceof ServerFailed && tries >= MOST_FAILURES;
      if (isOver || (!isUnsure && isCertain(came.error))) {
        return this.#set(requestId, { state: "refused", act, error: came.error });
      }
      isUnsure = true;
      this.#set(requestId, { state: "unsure", act });
      await this.#pause(tries);
    }
  }

  async #try(path: string, body: object, key: string, act: Act): Promise<Delivery | Failed> {
    try {
      return { state: "done", act, settled: await this.post(path, body, key) };
    } catch (error) {
      if (error instanceof AlreadySettled) return { state: "late", act, error };
      const known = error instanceof InterlockError ? error : new InterlockError(String(error));
      return isOpen(known) ? { state: "failed", error: known } : { state: "refused", act, error: known };
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

interface Failed {
  state: "failed";
  error: InterlockError;
}

/** Whether a later try may tell more. */
function isOpen(error: InterlockError): boolean {
  const kinds = [NetworkError, RateLimited, ServerUnavailable, ServerFailed, NotAuthenticated];
  return kinds.some((kind) => error instanceof kind);
}

/** Whether it is known that nothing was done. */
function isCertain(error: InterlockError): boolean {
  return error instanceof NotAuthenticated || (!(error instanceof ServerFailed) && didNothing(error));
}

export const deliveries = new Deliveries();
