/** Brings a thread to the page: its log from the beginning, its messages, what waits, and then what happens. */
import type { ChatEvent } from "interlock-client/events";
import { segment } from "interlock-client/transport";
import type { History, ThreadStatus } from "interlock-client/wire";
import { get } from "@/api/transport";
import type { Action, Told } from "./state/conversation";
import { placeOf, type Said } from "./state/model";
import { followAll } from "./stream";

/** The log is told in one go: after so much silence all of it was. */
const QUIET = 150;
/** A log that should be there and does not come. */
const LONGEST = 2_000;
/** Tokens come faster than anybody reads. */
const FRAME = 30;

export interface Taker {
  act(action: Action): void;
  /** Everything that had happened is shown. */
  ready(): void;
  connected(isConnected: boolean): void;
  /** Resolves when somebody is signed in again. */
  signedIn(): Promise<void>;
  deleted(): void;
  failed(error: Error): void;
}

export class Feed {
  readonly #thread: string;
  readonly #locale: string;
  readonly #taker: Taker;
  readonly #ending = new AbortController();
  #waiting: Told[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReady = false;
  #openedAt: number | null = null;
  #messagesBefore: Said[] | null = null;
  /** Everything that was asked so far, as the log tells. */
  readonly #asked = new Set<string>();
  #isLooking = false;

  constructor(thread: string, locale: string, taker: Taker) {
    this.#thread = thread;
    this.#locale = locale;
    this.#taker = taker;
  }

  /** `said`: what the thread was just begun with on this page. */
  open(said: string | null): void {
    this.#taker.act({ type: "opened", said });
    void this.#follow();
    if (said === null) void this.#read();
    else this.#show();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#ending.abort();
  }

  /** Somebody else may have said something: the stream does not tell. */
  async readMessages(): Promise<void> {
    const messages = await this.#messages().catch(() => null);
    if (messages && this.#isReady) this.#taker.act({ type: "history", messages });
  }

  async readOpen(): Promise<void> {
    const gone = await this.#gone().catch(() => null);
    if (gone && this.#isReady) this.#taker.act({ type: "gone", requestIds: gone });
  }

  async #read(): Promise<void> {
    try {
      this.#messagesBefore = await this.#messages();
      this.#schedule();
    } catch (error) {
      this.#fail(error);
    }
  }

  async #follow(): Promise<void> {
    const connections = {
      opened: () => this.#connected(),
      lost: () => this.#taker.connected(false),
      signedIn: this.#taker.signedIn,
    };
    try {
      const options = { locale: this.#locale, connections, signal: this.#ending.signal };
      for await (const event of followAll(this.#thread, options)) this.#take(event);
      this.#flush();
      this.#taker.deleted();
    } catch (error) {
      this.#fail(error);
    }
  }

  #connected(): void {
    this.#taker.connected(true);
    this.#flush();
    if (this.#openedAt !== null) this.#taker.act({ type: "connected" });
    this.#openedAt ??= performance.now();
    this.#schedule();
  }

  #take(event: ChatEvent): void {
    this.#waiting.push({ event, at: this.#isReady ? performance.now() : null });
    if (event.type === "interrupt") for (const one of event.requests) this.#asked.add(one.request_id);
    // Tokens are never told again: there is no more of the log before this one.
    if (!this.#isReady && placeOf(event.id)?.token != null && this.#messagesBefore) void this.#look();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isReady && this.#timer !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#due(), this.#isReady ? FRAME : QUIET);
  }

  #due(): void {
    this.#timer = undefined;
    if (this.#isReady) this.#flush();
    if (this.#isReady || this.#openedAt === null || this.#messagesBefore === null) return;
    const isMissing = this.#waiting.length === 0 && this.#messagesBefore.length > 0;
    if (isMissing && performance.now() - this.#openedAt < LONGEST) this.#schedule();
    else void this.#look();
  }

  /** The log is there: what of it waits no more, and then all of it is shown. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const gone = await this.#gone();
      this.#show(gone);
    } catch (error) {
      this.#fail(error);
    }
  }

  #show(gone: string[] = []): void {
    this.#isReady = true;
    this.#flush();
    if (this.#messagesBefore) {
      this.#taker.act({ type: "history", messages: this.#messagesBefore });
      this.#taker.act({ type: "gone", requestIds: gone });
    }
    this.#taker.ready();
  }

  #flush(): void {
    if (!this.#isReady || this.#waiting.length === 0) return;
    const events = this.#waiting;
    this.#waiting = [];
    this.#taker.act({ type: "told", events });
  }

  #fail(error: unknown): void {
    if (this.#ending.signal.aborted) return;
    this.close();
    this.#taker.failed(error instanceof Error ? error : new Error(String(error)));
  }

  async #messages(): Promise<Said[]> {
    const path = `/api/history/${segment(this.#thread)}`;
    return (await get<History>(path, {}, this.#ending.signal)).messages;
  }

  /** What had been asked before the server was asked, and waits no more: of what comes meanwhile its reply knows nothing. */
  async #gone(): Promise<string[]> {
    const asked = [...this.#asked];
    const open = await this.#open();
    return asked.filter((one) => !open.includes(one));
  }

  async #open(): Promise<string[]> {
    const path = `/api/status/${segment(this.#thread)}`;
    const status = await get<ThreadStatus>(path, {}, this.#ending.signal);
    return (status.interrupt_info?.requests ?? []).map((one) => one.request_id);
  }
}
