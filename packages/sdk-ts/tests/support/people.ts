/** Agents that ask, and people who answer them; every wait is bounded. */
import { randomUUID } from "node:crypto";
import { inject } from "vitest";
import { type ClientOptions, InterlockClient, type JsonObject, type PendingRequest } from "../../src/index.js";

const SECONDS = 60;

/** On the server without accounts, somebody whom nobody else is. */
export function someone(options: Partial<ClientOptions> = {}): InterlockClient {
  return new InterlockClient({ baseUrl: inject("open"), user: `user-${randomUUID().slice(0, 8)}`, ...options });
}

/** On the server with accounts. Names are registered in servers.ts. */
export function signedIn(username: "root" | "alice" | "bob"): Promise<InterlockClient> {
  return InterlockClient.signIn({ baseUrl: inject("closed"), locale: "en" }, username, "wonderland");
}

export async function until<T>(look: () => T | Promise<T>, isRight: (seen: T) => boolean): Promise<T> {
  const deadline = performance.now() + SECONDS * 1_000;
  for (;;) {
    const seen = await look();
    if (isRight(seen)) return seen;
    if (performance.now() > deadline) throw new Error(`still not so after ${SECONDS} s: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const listed: T[] = [];
  for await (const item of items) listed.push(item);
  return listed;
}

export async function next<T>(items: AsyncGenerator<T>): Promise<T> {
  const { done, value } = await items.next();
  if (done) throw new Error("there is no more");
  return value;
}

/** What waits in the agent's conversation, once there are so many. */
export function sees(person: InterlockClient, agent: InterlockClient, count = 1): Promise<PendingRequest[]> {
  const look = async () => (agent.conversationId ? all(person.pending(agent.conversationId)) : []);
  return until(look, (found) => found.length === count);
}

/** Answer what the agent asked, when it is there. */
export async function answers(
  person: InterlockClient,
  agent: InterlockClient,
  response: JsonObject,
): Promise<PendingRequest> {
  const [asked] = (await sees(person, agent)) as [PendingRequest];
  await person.respond(asked.request_id, response);
  return asked;
}

/** The error that it ends with. */
export async function failure(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}
