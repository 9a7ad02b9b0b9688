/** `InterlockClient`: ask people from any program, answer what was asked, and talk to hosted agents. */
import { InvalidInput } from "./errors.js";
import { language } from "./language.js";
import { Teams } from "./parts/teams.js";
import { Transport } from "./transport.js";
import type { AccessToken } from "./wire.js";

const TIMEOUT = 30_000;
const PATIENCE = 30_000;

export interface ClientOptions {
  /** Of the server: `http://127.0.0.1:8000`. */
  baseUrl: string;
  /** An API key. Never in a page that others may read. */
  key?: string;
  /** An access token, as `signIn` gets one. */
  token?: string;
  /** Who is calling, on a server that runs without accounts. */
  user?: string;
  /** Of the texts of the server: `zh` or `en`. Unless it is named, that of the browser, or of LC_ALL and LANG. */
  locale?: string;
  /** The name that people see asking. */
  agent?: string;
  /** Where to ask; the first ask begins a conversation unless one is named. */
  conversationId?: string;
  fetch?: typeof globalThis.fetch;
  /** Milliseconds that one reply may take. */
  timeout?: number;
  /** Milliseconds for which to go on trying while the server cannot be reached. */
  patience?: number;
}

/** A server, as one person or agent sees it. In a page that the server itself gave, its cookie is the credential. */
export class InterlockClient extends Teams {
  constructor(options: ClientOptions) {
    if (options.key && options.token) throw new InvalidInput("give a key or a token, not both");
    const transport = new Transport({
      baseUrl: options.baseUrl,
      credential: options.key || options.token || undefined,
      user: options.user,
      locale: options.locale ?? language(),
      fetch: options.fetch,
      timeout: options.timeout ?? TIMEOUT,
      patience: options.patience ?? PATIENCE,
    });
    super(transport, options.agent, options.conversationId);
  }

  /** A client of the person with this name and password. */
  static async signIn(
    options: Omit<ClientOptions, "key" | "token" | "user">,
    username: string,
    password: string,
  ): Promise<InterlockClient> {
    const anybody = new InterlockClient(options);
    const body = { username, password };
    const call = { method: "POST", path: "/api/auth/login", body, repeatable: true } as const;
    const { access_token } = await anybody.fetched<AccessToken>(call);
    return new InterlockClient({ ...options, token: access_token });
  }

  get baseUrl(): string {
    return this.transport.baseUrl;
  }
}
