/** HTTP underneath the client: credentials, errors in one tree, and trying again where that is safe. */
import {
  errorOf,
  InterlockError,
  InvalidInput,
  NetworkError,
  RateLimited,
  ServerFailed,
  ServerUnavailable,
} from "./errors.js";
import { isObject, type JsonObject, parsed } from "./json.js";
import { Patience } from "./patience.js";
import { type Frame, frames } from "./sse.js";
import { Watch } from "./waiting.js";

/** Streams give a sign of life every 15 s; after so much silence the connection is taken for dead. */
const SILENCE = 50_000;
/** What stands in between may have passed the request on. */
const AMBIGUOUS: readonly (number | undefined)[] = [502, 504];
/** What Node says of a connection that was never there. Browsers say nothing, so there it counts as sent. */
const NOT_SENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];

export interface Call {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  query?: Record<string, string | number | boolean | null | undefined>;
  body?: JsonObject;
  headers?: Record<string, string>;
  /** Whether sending it again does no harm when it had arrived: it only looks, or carries an idempotency key. */
  repeatable?: boolean;
  /** Milliseconds for which the server may hold the reply. */
  holds?: number;
  signal?: AbortSignal | undefined;
}

export interface TransportOptions {
  baseUrl: string;
  credential: string | undefined;
  user: string | undefined;
  locale: string | undefined;
  fetch: typeof globalThis.fetch | undefined;
  timeout: number;
  patience: number;
}

export interface Stream {
  headers: Headers;
  frames: AsyncGenerator<Frame>;
  /** Leave it; a stream that is read to its end needs no closing. */
  close(): void;
}

export class Transport {
  readonly baseUrl: string;
  readonly user: string | undefined;
  readonly patience: number;
  readonly isSignedIn: boolean;
  readonly #headers: Record<string, string>;
  readonly #fetch: typeof globalThis.fetch;
  readonly #timeout: number;

  constructor(options: TransportOptions) {
    this.baseUrl = checkedUrl(options.baseUrl);
    this.user = options.user;
    this.patience = options.patience;
    this.isSignedIn = options.credential !== undefined;
    this.#timeout = options.timeout;
    // Looked up late, and called as a function of the page, which browsers insist on.
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#headers = {
      ...(options.locale ? { "accept-language": options.locale } : {}),
      ...(options.credential === undefined ? {} : { authorization: `Bearer ${checkedCredential(options.credential)}` }),
    };
  }

  /** Make the call, and read its reply; tries again while it is safe and patience lasts. */
  async fetch(call: Call, patience = new Patience(this.patience)): Promise<JsonObject> {
    for (;;) {
      try {
        return await this.#fetchOnce(call);
      } catch (error) {
        if (!isPassing(error) || !(call.repeatable || didNothing(error))) throw error;
        await patience.pause(error, call.signal);
      }
    }
  }

  /** One attempt at a stream of events, which throws `NetworkError` when it breaks off. */
  async stream(call: Call): Promise<Stream> {
    const watch = new Watch(SILENCE, call.signal);
    try {
      const response = await this.#send(call, watch);
      if (!response.ok) throw await this.#refusal(response, watch, call);
      if (!response.headers.get("content-type")?.startsWith("text/event-stream") || !response.body) {
        throw new ServerFailed(`${this.baseUrl} gave no stream: is the address right?`);
      }
      const told = frames(this.#chunks(response.body, watch, call));
      return { headers: response.headers, frames: told, close: () => watch.end() };
    } catch (error) {
      watch.end();
      throw error;
    }
  }

  /** The address of a path, with the user on a server without accounts. */
  url(path: string, query: Call["query"] = {}): string {
    const params = new URLSearchParams();
    for (const [name, value] of Object.entries({ user_id: this.user, ...query })) {
      if (value !== undefined && value !== null) params.set(name, String(value));
    }
    const spelled = params.toString();
    return `${this.baseUrl}${path}${spelled ? `?${spelled}` : ""}`;
  }

  async #fetchOnce(call: Call): Promise<JsonObject> {
    const watch = new Watch(this.#timeout + (call.holds ?? 0), call.signal);
    try {
      const response = await this.#send(call, watch);
      if (!response.ok) throw await this.#refusal(response, watch, call);
      const body = parsed(await this.#text(response, watch, call));
      if (!isObject(body)) {
        throw new ServerFailed(`${this.baseUrl} gave a reply that is none of Interlock's: is the address right?`);
      }
      return body;
    } finally {
      watch.end();
    }
  }

  async #send(call: Call, watch: Watch): Promise<Response> {
    const body = call.body === undefined ? undefined : spelledJson(call.body);
    const headers: Record<string, string> = { ...this.#headers, ...call.headers };
    if (body !== undefined) headers["content-type"] = "application/json";
    try {
      const init = { method: call.method, headers, body, signal: watch.signal, cache: "no-store" } as const;
      return await this.#fetch(this.url(call.path, call.query), init);
    } catch (error) {
      throw this.#broken(error, watch, call);
    }
  }

  async #text(response: Response, watch: Watch, call: Call): Promise<string> {
    try {
      return await response.text();
    } catch (error) {
      throw this.#broken(error, watch, call);
    }
  }

  async #refusal(response: Response, watch: Watch, call: Call): Promise<InterlockError> {
    const body = parsed(await this.#text(response, watch, call));
    return errorOf(response.status, body, seconds(response.headers.get("retry-after")));
  }

  async *#chunks(body: ReadableStream<Uint8Array>, watch: Watch, call: Call): AsyncGenerator<Uint8Array> {
    const reader = body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        watch.renew();
        yield value;
      }
    } catch (error) {
      throw this.#broken(error, watch, call);
    } finally {
      watch.end();
    }
  }

  #broken(error: unknown, watch: Watch, call: Call): unknown {
    if (error instanceof InterlockError) return error;
    if (call.signal?.aborted) return call.signal.reason;
    const cause =
      isObject(error) || error instanceof Error ? (error as { cause?: { code?: unknown } }).cause : undefined;
    const sent = !NOT_SENT.includes(String(cause?.code));
    const what = watch.isSilent
      ? "nothing was heard for too long"
      : sent
        ? "the connection broke"
        : "cannot be reached";
    return new NetworkError(`${this.baseUrl}: ${what}`, { details: { sent }, cause: error });
  }
}

/** Whether it may be better at the next try. */
export function isPassing(error: unknown): error is NetworkError | RateLimited | ServerUnavailable {
  return error instanceof NetworkError || error instanceof RateLimited || error instanceof ServerUnavailable;
}

/** Whether the server certainly did nothing, so that it may be sent again even if doing it twice would do harm. */
export function didNothing(error: InterlockError): boolean {
  if (error instanceof NetworkError) return !error.sent;
  return !AMBIGUOUS.includes(error.status) && !isUnderWay(error);
}

/** Whether it was done all the same: the server, which is shutting down, only does not wait for what comes of it. */
export function isUnderWay(error: unknown): boolean {
  return error instanceof ServerUnavailable && error.details.status === "running";
}

/** A part of a path, whatever letters it has. */
export function segment(text: string): string {
  if (!text) throw new InvalidInput("an id must not be empty");
  return encodeURIComponent(text);
}

/** As it is sent; `InvalidInput` for what JSON cannot say. */
export function spelledJson(body: JsonObject): string {
  try {
    return JSON.stringify(body, (_name, value) => {
      // It would be sent as null, and be something else for whoever reads it.
      if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${value} is no JSON`);
      return value;
    });
  } catch (error) {
    throw new InvalidInput(`this cannot be sent: ${error}`, { cause: error });
  }
}

function seconds(text: string | null): number | undefined {
  const number = text ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? Math.max(number, 0) : undefined;
}

function checkedCredential(credential: string): string {
  const text = credential.trim();
  if (!/^[\x21-\x7e]+$/.test(text)) {
    throw new InvalidInput("the credential has characters that no key and no token has");
  }
  return text;
}

function checkedUrl(url: string): string {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !["http:", "https:"].includes(address.protocol)) {
    throw new InvalidInput(`${JSON.stringify(url)} is no address of a server: it begins with http:// or https://`);
  }
  if (address.username || address.password) {
    throw new InvalidInput("an address holds no credential: give it as key or token");
  }
  return `${address.origin}${address.pathname.replace(/\/+$/, "")}`;
}
