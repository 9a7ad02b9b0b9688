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
  #before: { messages: Said[]; open: string[] } | null = null;

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
    const requestIds = await this.#open().catch(() => null);
    if (requestIds && this.#isReady) this.#taker.act({ type: "open", requestIds });
  }

  async #read(): Promise<void> {
    try {
      const [messages, open] = await Promise.all([this.#messages(), this.#open()]);
      this.#before = { messages, open };
      this.#schedule();
    } catch (error) {
      this.#fail(error);
    }
  }

  async #follow(): Promise<void> {
    const connections = { opened: () => this.#connected(), lost: () => this.#taker.connected(false) };
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
    // Tokens are never told again: there is no more of the log before this one.
    if (!this.#isReady && placeOf(event.id)?.token != null && this.#before) this.#show();
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
    if (this.#isReady || this.#openedAt === null || this.#before === null) return;
    const isMissing = this.#waiting.length === 0 && this.#before.messages.length > 0;
    if (isMissing && performance.now() - this.#openedAt < LONGEST) this.#schedule();
    else this.#show();
  }

  #show(): void {
    this.#isReady = true;
    this.#flush();
    if (this.#before) {
      this.#taker.act({ type: "history", messages: this.#before.messages });
      this.#taker.act({ type: "open", requestIds: this.#before.open });
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

  async #open(): Promise<string[]> {
    const path = `/api/status/${segment(this.#thread)}`;
    const status = await get<ThreadStatus>(path, {}, this.#ending.signal);
    return (status.interrupt_info?.requests ?? []).map((one) => one.request_id);
  }
}
