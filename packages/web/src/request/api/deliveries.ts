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
import type { Present, Settled } from "interlock-client/inbox";
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
  /** The server took none of it, and said why. */
  | { state: "refused"; act: Act; error: InterlockError };

type Post = (path: string, body: object, key: string) => Promise<Settled>;

/** In whose name the server would take an answer now. */
type Whose = () => Promise<string>;

const PAUSES = [500, 1_000, 2_000, 3_000];
/** A server that fails again and again on the same words has not done them. */
const MOST_FAILURES = 4;

export class Deliveries {
  readonly #found = new Map<string, Delivery>();
  readonly #watchers = new Set<() => void>();
  readonly #waking = new Set<() => void>();
  #round = 0;

  constructor(
    readonly post: Post = postOnce,
    readonly pauses: readonly number[] = PAUSES,
    readonly whose: Whose = signedIn,
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

  /** Whoever sent them has left: nothing of it is sent again, or shown to the next one. */
  abandon(): void {
    this.#round += 1;
    this.#found.clear();
    this.hurry();
    this.#tell();
  }

  /** Goes on when the page that sent it is left, and ends with the session that it began in. */
  async send(requestId: string, path: string, body: object, act: Act): Promise<void> {
    const state = this.get(requestId)?.state;
    if (state === "sending" || state === "unsure" || state === "done") return;
    this.#set(requestId, { state: "sending", act });
    const round = this.#round;
    const sent = { path, body, key: newKey(), act, person: presentPerson() };
    for (let tries = 1; ; tries += 1) {
      const came = await this.#try(sent, tries);
      if (round !== this.#round) return;
      this.#set(requestId, came.delivery);
      if (came.isOver) return;
      await this.#pause(tries);
      if (round !== this.#round) return;
    }
  }

  /** What is known after this try, and whether a later one may tell more. */
  async #try(sent: Sent, tries: number): Promise<{ delivery: Delivery; isOver: boolean }> {
    const { act, path, body, key, person } = sent;
    try {
      // Another one's cookie would make it another one's answer.
      const isOther = tries > 1 && person !== null && (await this.whose()) !== person;
      if (isOther) return { delivery: { state: "unsure", act }, isOver: true };
      return { delivery: { state: "done", act, settled: await this.post(path, body, key) }, isOver: true };
    } catch (error) {
      if (error instanceof AlreadySettled) return { delivery: { state: "late", act, error }, isOver: true };
      const known = error instanceof InterlockError ? error : new InterlockError(String(error));
      const isOver = isDecided(known, tries);
      return { delivery: isOver ? { state: "refused", act, error: known } : { state: "unsure", act }, isOver };
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
  body: object;
  key: string;
  act: Act;
  /** Who sent it first. */
  person: string | null;
}

/** Whether the server has done nothing, and will not do it on another try. */
function isDecided(error: InterlockError, tries: number): boolean {
  if (!isOpen(error)) return true;
  if (error instanceof ServerFailed) return tries >= MOST_FAILURES;
  // Of a first try only: after that, an earlier one may have been taken.
  return tries === 1 && isCertain(error);
}

/** Whether a later try may tell more. */
function isOpen(error: InterlockError): boolean {
  const kinds = [NetworkError, RateLimited, ServerUnavailable, ServerFailed, NotAuthenticated];
  return kinds.some((kind) => error instanceof kind);
}

/** Whether it is known that nothing was done. */
function isCertain(error: InterlockError): boolean {
  return error instanceof NotAuthenticated || didNothing(error);
}

async function signedIn(): Promise<string> {
  return (await get<Present>("/api/v1/session")).user_id;
}

export const deliveries = new Deliveries();
whenPersonLeaves(() => deliveries.abandon());
