import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { InterlockClient, NetworkError, RateLimited, ServerFailed, ServerUnavailable } from "../src/index.js";
import { all, failure, next, sees, someone, until } from "./support/people.js";
import { Relay } from "./support/relay.js";

describe("a network that breaks", () => {
  let relay: Relay;
  let agent: InterlockClient;
  let person: InterlockClient;

  beforeEach(async () => {
    relay = await Relay.to(inject("open"));
    const user = `user-${crypto.randomUUID().slice(0, 8)}`;
    agent = new InterlockClient({ baseUrl: relay.url, user });
    person = new InterlockClient({ baseUrl: relay.url, user });
  });
  afterEach(() => relay.close());

  const keys = (call: string) => relay.seen.filter((one) => one.call === `POST /api/v1/agent/hitl/${call}`);

  test.each([1, 3])("does not make an agent ask twice when %i replies are lost", async (lost) => {
    relay.losing = { path: "/hitl/requests", times: lost };
    const asked = agent.askClarification("Once?");
    const [seen] = await sees(person, agent);
    expect(keys("requests")).toHaveLength(lost + 1);
    expect(new Set(keys("requests").map((one) => one.key)).size).toBe(1);
    await person.respond(String(seen?.request_id), { answer: "once" });
    expect(await asked).toBe("once");
  });

  test("does not make a person answer twice when replies are lost", async () => {
    const asked = agent.askClarification("Well?");
    const [seen] = await sees(person, agent);
    relay.losing = { path: "/respond", times: 2 };
    expect((await person.respond(String(seen?.request_id), { answer: "yes" })).status).toBe("answered");
    expect(await asked).toBe("yes");
    expect(keys("respond")).toHaveLength(3);
    expect(new Set(keys("respond").map((one) => one.key)).size).toBe(1);
  });

  test.each([429, 503])("is waited out when something in between says %i", async (status) => {
    relay.refusing = [status, status];
    const threadId = await agent.createThread();
    expect(threadId).toBeTruthy();
    expect(relay.seen).toHaveLength(3);
    relay.refusing = [status];
    expect((await all(agent.chat("hello", { threadId }))).at(-1)?.type).toBe("end");
    expect((await agent.history(threadId)).filter((message) => message.role === "user")).toHaveLength(1);
  });

  test("is an error where trying again could do it twice", async () => {
    relay.refusing = [502];
    expect(await failure(agent.createThread())).toBeInstanceOf(ServerUnavailable);
    relay.losing = { path: "/api/chat", times: 1 };
    const lost = await failure(all(agent.chat("hello")));
    expect(lost).toBeInstanceOf(NetworkError);
    expect((lost as NetworkError).sent).toBe(true);
    expect(relay.seen).toHaveLength(2);
    // It had arrived, and is there once.
    expect(
      await until(
        () => all(agent.threads()),
        (found) => found.length === 1,
      ),
    ).toHaveLength(1);
  });

  test("does not end a chat: it is followed to its end", async () => {
    const threadId = await agent.createThread();
    const events = agent.chat("hello", { threadId, detached: true });
    const first = await next(events);
    relay.cut();
    const rest = await all(events);
    expect(rest.at(-1)?.type).toBe("end");
    let told = "";
    for (const event of [first, ...rest]) {
      if (event.type === "messages/partial") told = event.reset ? event.content : told + event.content;
    }
    expect(told).toBe((await agent.history(threadId)).at(-1)?.content);
  });

  test("does not make a follower miss or hear twice what happens", async () => {
    const asked = agent.askClarification("First?");
    await sees(person, agent);
    const events = person.follow(agent.conversationId);
    const seen = [await next(events)];
    relay.cut();
    for (const answer of ["a", "b", "c"]) {
      const [pending] = await sees(person, agent);
      await person.respond(String(pending?.request_id), { answer });
      seen.push(await next(events));
      relay.cut();
      if (answer === "c") break;
      void agent.askClarification("Next?").catch(() => undefined);
      seen.push(await next(events));
    }
    await events.return(undefined);
    expect(await asked).toBe("a");
    const told = ["clarification_asked", "clarification_answered"];
    expect(seen.map((event) => event.type)).toEqual([...told, ...told, ...told]);
    expect(new Set(seen.map((event) => event.id)).size).toBe(6);
  });

  test("is an error when patience ends", async () => {
    const url = relay.url;
    await relay.close();
    const hasty = new InterlockClient({ baseUrl: url, patience: 250 });
    const works = [
      () => hasty.askClarification("Anybody?"),
      () => hasty.chat("Anybody?").next(),
      () => hasty.follow("x").next(),
    ];
    for (const work of works) {
      const lost = await failure(work());
      expect(lost).toBeInstanceOf(NetworkError);
      expect((lost as NetworkError).sent).toBe(false);
    }
    relay = await Relay.to(inject("open"));
    relay.refusing = [429];
    const told = new InterlockClient({ baseUrl: relay.url, patience: 0 });
    expect(await failure(told.grants())).toBeInstanceOf(RateLimited);
  });

  test("is told from a server that is none of ours", async () => {
    const page = () => Promise.resolve(new Response("<html>", { headers: { "content-type": "text/html" } }));
    const lost = someone({ fetch: page });
    expect(await failure(lost.grants())).toBeInstanceOf(ServerFailed);
    expect(await failure(lost.follow("x").next())).toBeInstanceOf(ServerFailed);
  });

  test("that is silent for too long is left", async () => {
    const silent: typeof fetch = (_input, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
    const waiting = someone({ fetch: silent, timeout: 50, patience: 0 });
    expect(await failure(waiting.grants())).toBeInstanceOf(NetworkError);
  });
});
