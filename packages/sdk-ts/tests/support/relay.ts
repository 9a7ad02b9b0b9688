/** Stands between a client and a server, and breaks what a network breaks. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export class Relay {
  url = "";
  /** So many of the next requests with such a path reach the server, and their replies are lost. */
  losing = { path: "", times: 0 };
  /** With these statuses the next requests are answered here, and never reach the server. */
  refusing: number[] = [];
  /** What came through: method, path and idempotency key. */
  readonly seen: { call: string; key: string | undefined }[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((incoming, reply) => this.#pass(incoming, reply));

  private constructor(readonly target: string) {}

  static async to(target: string): Promise<Relay> {
    const relay = new Relay(target);
    relay.#server.on("connection", (socket) => {
      relay.#sockets.add(socket);
      socket.on("close", () => relay.#sockets.delete(socket));
    });
    relay.#server.listen(0, "127.0.0.1");
    await once(relay.#server, "listening");
    relay.url = `http://127.0.0.1:${(relay.#server.address() as AddressInfo).port}`;
    return relay;
  }

  /** Break every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, "close");
  }

  #pass(incoming: IncomingMessage, reply: ServerResponse): void {
    const key = incoming.headers["idempotency-key"];
    this.seen.push({ call: `${incoming.method} ${incoming.url?.split("?")[0]}`, key: key?.toString() });
    const status = this.refusing.shift();
    if (status !== undefined) {
      reply.writeHead(status, { "content-type": "application/json", "retry-after": "0" }).end("{}");
      return;
    }
    const isLost =
      this.losing.times > 0 && new URL(String(incoming.url), this.target).pathname.endsWith(this.losing.path);
    if (isLost) this.losing.times -= 1;
    const { host } = new URL(this.target);
    const headers = { ...incoming.headers, host };
    const onward = request(`${this.target}${incoming.url}`, { method: incoming.method, headers }, (response) => {
      if (isLost) {
        response.resume().on("end", () => reply.destroy());
        return;
      }
      reply.writeHead(response.statusCode ?? 502, response.headers);
      reply.flushHeaders();
      response.on("error", () => reply.destroy()).pipe(reply);
    });
    onward.on("error", () => reply.destroy());
    reply.on("close", () => {
      if (!isLost) onward.destroy();
    });
    incoming.pipe(onward);
  }
}
