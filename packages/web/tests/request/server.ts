/** A server on the loopback that knows one request: what the pages talk to when a test looks at them. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { InboxRequest } from "interlock-client/inbox";
import type { JsonObject } from "interlock-client/json";

export interface Sent {
  path: string;
  key: string | undefined;
  body: JsonObject;
}

type Reply = { status: number; body: JsonObject } | "lost";

export class TestServer {
  readonly sent: Sent[] = [];
  /** What is said to the next answers; then they are taken. */
  readonly replies: Reply[] = [];
  /** What is said to have become of what was lost. */
  recalled: JsonObject | null = SETTLED;
  /** Whether the person may no longer see the request. */
  isGone = false;
  /** Whether it gives second opinions. */
  isAdvised = false;
  readonly #streams = new Set<ServerResponse>();
  readonly #server = createServer((incoming, outgoing) => void this.#answer(incoming, outgoing));

  constructor(public request: InboxRequest) {}

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  tell(event: string, data: JsonObject): void {
    for (const stream of this.#streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** The streams break off, and can be opened again. */
  drop(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const path = new URL(incoming.url ?? "/", "http://x").pathname;
    if (path.endsWith("/stream")) return this.#open(outgoing);
    if (incoming.method === "GET") return this.#read(path, outgoing);
    if (incoming.method === "DELETE") return this.#withdraw(path, outgoing);
    const body = JSON.parse(await textOf(incoming)) as JsonObject;
    if (path.endsWith("/looking")) return json(outgoing, 200, body);
    const key = incoming.headers["idempotency-key"]?.toString();
    if (path.endsWith("/recall")) return json(outgoing, 200, { settled: this.recalled });
    this.sent.push({ path, key, body });
    const reply = this.replies.shift() ?? { status: 200, body: SETTLED };
    if (reply === "lost") incoming.socket.destroy();
    else json(outgoing, reply.status, reply.body);
  }

  #withdraw(path: string, outgoing: ServerResponse): void {
    this.sent.push({ path, key: undefined, body: {} });
    const { people } = this.request;
    if (people) this.request = { ...this.request, people: { ...people, own_vote: null } };
    json(outgoing, 200, { request_id: "perm_1", votes: { yes: 0, needed: 2, refusals: 0 } });
  }

  #read(path: string, outgoing: ServerResponse): void {
    if (path.endsWith("/session")) json(outgoing, 200, { ...PERSON, second_opinion: this.isAdvised });
    else if (path.endsWith("/agents")) json(outgoing, 200, { agents: [{ name: "demo", tools: [] }] });
    else if (path.endsWith("/comments")) json(outgoing, 200, { comments: [] });
    else if (this.isGone) json(outgoing, 404, { detail: "no such request", code: "not_found" });
    else json(outgoing, 200, { ...this.request });
  }

  #open(outgoing: ServerResponse): void {
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    outgoing.write(
      'event: hello\ndata: {"server_time": "2026-01-01T10:00:00Z", "started_at": "2026-01-01T09:00:00Z"}\n\n',
    );
    this.#streams.add(outgoing);
    outgoing.on("close", () => this.#streams.delete(outgoing));
  }
}

const PERSON = {
  username: "ann",
  user_id: "u1",
  role: "owner",
  reviews: [],
  auth: "accounts",
  locale: "en",
  server_time: "2026-01-01T10:00:00Z",
};
const SETTLED = { request_id: "perm_1", status: "answered", answered_at: "2026-01-01T10:00:05Z" };

function json(outgoing: ServerResponse, status: number, body: JsonObject): void {
  outgoing.writeHead(status, { "content-type": "application/json" });
  outgoing.end(JSON.stringify(body));
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of incoming) text += String(chunk);
  return text || "{}";
}
