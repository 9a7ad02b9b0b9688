/** HTTP to the server that gave the page: its cookie is the credential. */
import { NetworkError } from "interlock-client/errors";
import type { JsonObject } from "interlock-client/json";
import { Patience } from "interlock-client/patience";
import { type Call, type Stream, Transport } from "interlock-client/transport";

const TIMEOUT = 30_000;
/** A page tells at once that it has no connection; waiting is for what runs behind it. */
const PATIENCE = 2_000;

/** What no server says is said in the page's own words, which stand in the language that was chosen. */
class PageTransport extends Transport {
  broke = "The connection broke.";

  override async fetch(call: Call, patience?: Patience): Promise<JsonObject> {
    return super.fetch(call, patience).catch(this.#inWords);
  }

  override async stream(call: Call): Promise<Stream> {
    return super.stream(call).catch(this.#inWords);
  }

  #inWords = (error: unknown): never => {
    if (!(error instanceof NetworkError)) throw error;
    throw new NetworkError(this.broke, { details: error.details, cause: error });
  };
}

let transport = made("en");

/** In which language the server answers; `broke` says that there was no connection to it. */
export function setLocale(locale: string, broke?: string): void {
  transport = made(locale);
  if (broke !== undefined) transport.broke = broke;
}

export function api(): Transport {
  return transport;
}

export async function get<T>(path: string, query?: Call["query"], signal?: AbortSignal): Promise<T> {
  return (await transport.fetch({ method: "GET", path, query, repeatable: true, signal })) as T;
}

export async function post<T>(path: string, body: object = {}): Promise<T> {
  return (await transport.fetch({ method: "POST", path, body: { ...body } })) as T;
}

export async function remove<T>(path: string): Promise<T> {
  return (await transport.fetch({ method: "DELETE", path, repeatable: true })) as T;
}

/** Sent once: whoever calls decides whether, and with which key, it is sent again. */
export async function postOnce<T>(path: string, body: object, key: string, signal?: AbortSignal): Promise<T> {
  const call = { method: "POST", path, body: { ...body }, headers: { "idempotency-key": key }, signal } as const;
  return (await transport.fetch(call, new Patience(0))) as T;
}

/** The same, of what a second one would not find as the first one did. */
export async function callOnce<T>(call: Call): Promise<T> {
  return (await transport.fetch(call, new Patience(0))) as T;
}

/** Not `randomUUID`, which browsers have on secure pages only. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function made(locale: string): PageTransport {
  return new PageTransport({
    baseUrl: globalThis.location?.origin ?? "http://localhost",
    credential: undefined,
    user: undefined,
    locale,
    fetch: undefined,
    timeout: TIMEOUT,
    patience: PATIENCE,
  });
}
