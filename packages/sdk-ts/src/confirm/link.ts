/** The connection underneath a confirmation handler: opened with a ticket, and opened again when it breaks. */
import { InterlockError, InvalidInput, NotAuthenticated } from "../errors.js";
import { language } from "../language.js";
import { isPassing } from "../transport.js";
import { sleep } from "../waiting.js";
import type { UserEvent } from "../wire.js";
import { Address, type Caller } from "./address.js";
import { type ConfirmationConfig, configOf } from "./confirmations.js";
import { ConfirmationError, ConnectionLost, connectionLost } from "./errors.js";

export const CONNECTING = 30_000;
const POLICY = 1008;
const OPEN = 1;

/** What is needed of a `WebSocket`: that of a browser, or one given in its place. */
export interface Socket {
  readonly readyState: number;
  send(data: string): void;
  close(): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
}

export interface LinkOptions extends Caller {
  config?: Partial<ConfirmationConfig>;
  /** Where the runtime has none of its own, as Node 20: that of the package `ws`, say. */
  WebSocket?: new (
    url: string,
  ) => Socket;
}

interface Waiting {
  resolve(socket: Socket): void;
  reject(error: unknown): void;
}

export abstract class ConfirmationLink {
  readonly wsUrl: string;
  readonly config: ConfirmationConfig;
  protected readonly locale: string | undefined;
  protected ws: Socket | undefined;
  readonly #address: Address;
  readonly #newSocket: (url: string) => Socket;
  readonly #waiting = new Set<Waiting>();
  #life: AbortController | undefined;
  #reopensAtOnce = false;

  /** It connects by itself, once the constructors have ended. */
  constructor(wsUrl: string, options: LinkOptions = {}) {
    this.#address = new Address(wsUrl, options);
    this.wsUrl = this.#address.shown;
    this.config = configOf(options.config);
    this.locale = options.locale ?? language();
    this.#newSocket = maker(options.WebSocket);
    const life = this.#begin();
    queueMicrotask(() => void this.#keepOpen(life));
  }

  /** Wait until it is connected; after `close`, or when it was given up, connect again. */
  async connect(): Promise<void> {
    if (!this.#life) void this.#keepOpen(this.#begin());
    await this.connected();
  }

  /** Leave. What is pending stays pending on the server. */
  close(): void {
    if (!this.#life) return;
    const reason = connectionLost("the client was closed");
    this.#life.abort(reason);
    this.ws?.close();
    this.#giveUp(reason);
  }

  /** Leave the connection, and open another one. */
  reconnect(): void {
    this.#reopensAtOnce = true;
    if (this.#life) this.ws?.close();
    else void this.#keepOpen(this.#begin());
  }

  protected abstract onError(error: ConfirmationError): void;

  /** What is to be said first on a new connection. */
  protected abstract greeting(): UserEvent | undefined;

  protected abstract received(raw: string): void;

  /** There will be no more, unless `connect` is called. */
  protected abstract ended(error: unknown): void;

  /** Whether a message that cannot be sent now can be sent later. */
  protected get comesBack(): boolean {
    return this.#life !== undefined && this.config.autoReconnect;
  }

  /** Whether it was sent; whether it arrived is another matter. */
  protected sendNow(message: UserEvent): boolean {
    if (this.ws?.readyState !== OPEN) return false;
    this.ws.send(JSON.stringify(message));
    return true;
  }

  protected async send(message: UserEvent): Promise<void> {
    const socket = await this.connected();
    socket.send(JSON.stringify(message));
  }

  /** The connection, once there is one. */
  protected connected(): Promise<Socket> {
    if (this.ws?.readyState === OPEN) return Promise.resolve(this.ws);
    if (!this.#life) return Promise.reject(connectionLost("not connected: call `connect`"));
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { resolve, reject };
      const timer = setTimeout(() => reject(connectionLost(`${this.wsUrl} was not reached in time`)), CONNECTING);
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
      };
      waiting.resolve = (socket) => {
        done();
        resolve(socket);
      };
      waiting.reject = (error) => {
        done();
        reject(error);
      };
      this.#waiting.add(waiting);
    });
  }

  #begin(): AbortController {
    this.#life = new AbortController();
    return this.#life;
  }

  async #keepOpen(life: AbortController): Promise<void> {
    try {
      await this.#connections(life.signal);
    } catch (error) {
      if (life.signal.aborted) return;
      this.#giveUp(error);
      this.onError(asConfirmationError(error));
    }
  }

  #giveUp(reason: unknown): void {
    this.#life = undefined;
    for (const waiting of this.#waiting) waiting.reject(reason);
    this.ended(reason);
  }

  /** One after the other, until there is to be none. */
  async #connections(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      let lost = connectionLost(`the connection to ${this.wsUrl} broke`);
      try {
        await this.#connection(signal, () => {
          failures = 0;
        });
      } catch (error) {
        if (!isPassing(error) && !(error instanceof ConnectionLost)) throw error;
        lost = connectionLost(error.message, error);
      }
      await this.#pause(lost, failures, signal);
      failures += 1;
    }
  }

  async #pause(lost: ConnectionLost, failures: number, signal: AbortSignal): Promise<void> {
    const { autoReconnect, maxReconnectAttempts, reconnectInterval } = this.config;
    const atOnce = this.#reopensAtOnce;
    this.#reopensAtOnce = false;
    if (atOnce) return;
    if (!autoReconnect || failures >= maxReconnectAttempts) throw lost;
    await sleep(reconnectInterval, signal);
  }

  /** Open one, and wait until it is over. */
  async #connection(signal: AbortSignal, opened: () => void): Promise<void> {
    const url = await this.#address.forOnce(signal);
    signal.throwIfAborted();
    const socket = this.#newSocket(url);
    this.ws = socket;
    await new Promise<void>((resolve, reject) => {
      let isOpen = false;
      socket.onopen = () => {
        isOpen = true;
        opened();
        this.#greet(socket);
      };
      socket.onmessage = (event: { data: unknown }) => {
        if (!signal.aborted) this.received(String(event.data));
      };
      // What there is to know comes with the close.
      socket.onerror = () => undefined;
      socket.onclose = (event: { code: number; reason: string }) => {
        const refused = new NotAuthenticated(event.reason || "the credential no longer holds");
        const failed = connectionLost(`${this.wsUrl} cannot be reached, or does not let this client in`);
        if (event.code === POLICY) reject(refused);
        else if (!isOpen) reject(failed);
        else resolve();
      };
    });
  }

  #greet(socket: Socket): void {
    const greeting = this.greeting();
    if (greeting) socket.send(JSON.stringify(greeting));
    for (const waiting of this.#waiting) waiting.resolve(socket);
  }
}

function asConfirmationError(error: unknown): ConfirmationError {
  if (error instanceof ConfirmationError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const error_type = error instanceof InterlockError ? error.code : "internal_error";
  return new ConfirmationError(message, { error_type, cause: error });
}

function maker(given: LinkOptions["WebSocket"]): (url: string) => Socket {
  const Made = given ?? (globalThis as { WebSocket?: LinkOptions["WebSocket"] }).WebSocket;
  if (!Made) throw new InvalidInput("this runtime has no WebSocket: give one as the option `WebSocket`");
  return (url) => new Made(url);
}
