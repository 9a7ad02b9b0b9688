/** What the parts of the client stand on: one transport, and replies in the envelope of the hitl face or without. */
import { ServerFailed } from "../errors.js";
import { isObject, type JsonObject } from "../json.js";
import type { Patience } from "../patience.js";
import type { Call, Transport } from "../transport.js";

export const HITL = "/api/v1/agent/hitl";

/** What every call takes. */
export interface Abortable {
  signal?: AbortSignal | undefined;
}

export abstract class Part {
  /** Where this client asks; the first ask begins one, unless it was given. */
  conversationId: string | undefined;
  protected readonly transport: Transport;
  /** The name that people see asking. */
  protected readonly agent: string | undefined;

  constructor(transport: Transport, agent: string | undefined, conversationId: string | undefined) {
    this.transport = transport;
    this.agent = agent;
    this.conversationId = conversationId;
  }

  protected async fetched<T>(call: Call): Promise<T> {
    return (await this.transport.fetch(call)) as T;
  }

  protected got<T>(path: string, query: Call["query"], signal: AbortSignal | undefined): Promise<T> {
    return this.fetched<T>({ method: "GET", path, query, repeatable: true, signal });
  }

  protected async enveloped<T>(call: Call, patience?: Patience): Promise<T> {
    const envelope = await this.transport.fetch(call, patience);
    if (!isObject(envelope.data)) throw new ServerFailed("a reply of the hitl face came without its envelope");
    return envelope.data as T;
  }

  /** A POST of the hitl face. Its key is made once, however often it is sent: so it is done once. */
  protected posted<T>(path: string, body: JsonObject, signal?: AbortSignal): Promise<T> {
    const headers = { "idempotency-key": newKey() };
    return this.enveloped<T>({ method: "POST", path: `${HITL}${path}`, body, headers, repeatable: true, signal });
  }

  /** With who is calling, for a server that runs without accounts; unset fields are left out. */
  protected body(fields: JsonObject): JsonObject {
    const named = Object.entries({ user_id: this.transport.user, ...fields });
    return Object.fromEntries(named.filter(([, value]) => value !== undefined && value !== null));
  }
}

function newKey(): string {
  // Not `randomUUID`, which browsers have on secure pages only.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
