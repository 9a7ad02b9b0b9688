/** Where a confirmation socket is, and how one is let in: a browser's socket can bring a ticket, and no header. */
import { InvalidInput } from "../errors.js";
import { textOf } from "../json.js";
import { language } from "../language.js";
import { Patience } from "../patience.js";
import { Transport } from "../transport.js";

const TIMEOUT = 30_000;
const SCHEMES: Readonly<Record<string, string>> = { "http:": "ws:", "https:": "wss:", "ws:": "ws:", "wss:": "wss:" };

export interface Caller {
  key?: string;
  token?: string;
  /** On a server that runs without accounts. */
  user?: string;
  locale?: string;
  fetch?: typeof globalThis.fetch;
}

export class Address {
  readonly #url: URL;
  readonly #tickets: Transport | undefined;

  constructor(wsUrl: string, caller: Caller) {
    this.#url = socketUrl(wsUrl);
    if (caller.user) this.#url.searchParams.set("user_id", caller.user);
    const credential = caller.key || caller.token || undefined;
    if (credential) this.#tickets = transportBeside(this.#url, credential, caller);
  }

  /** The address without what lets one in. */
  get shown(): string {
    return `${this.#url.protocol}//${this.#url.host}${this.#url.pathname}`;
  }

  /** For one connection; `NotAuthenticated` when the credential does not hold. */
  async forOnce(signal: AbortSignal): Promise<string> {
    if (!this.#tickets) return this.#url.href;
    const call = { method: "POST", path: "/api/v1/tickets", signal } as const;
    const { ticket } = await this.#tickets.fetch(call, new Patience(0));
    const url = new URL(this.#url);
    url.searchParams.set("ticket", textOf(ticket));
    return url.href;
  }
}

/** The address of a server will do for that of its socket. */
function socketUrl(wsUrl: string): URL {
  const url = URL.canParse(wsUrl) ? new URL(wsUrl) : undefined;
  const scheme = SCHEMES[url?.protocol ?? ""];
  if (!url || !scheme) {
    throw new InvalidInput(
      `${JSON.stringify(wsUrl)} is no address of a confirmation socket: it begins with ws:// or wss://`,
    );
  }
  const path = url.pathname === "/" ? "/ws" : url.pathname;
  return new URL(`${scheme}//${url.host}${path}${url.search}`);
}

function transportBeside(url: URL, credential: string, caller: Caller): Transport {
  const scheme = url.protocol === "wss:" ? "https:" : "http:";
  return new Transport({
    baseUrl: `${scheme}//${url.host}${url.pathname.replace(/\/ws$/, "")}`,
    credential,
    user: undefined,
    locale: caller.locale ?? language(),
    fetch: caller.fetch,
    timeout: TIMEOUT,
    patience: 0,
  });
}
