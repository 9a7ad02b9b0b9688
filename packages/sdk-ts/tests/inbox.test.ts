import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type InboxEvent, InterlockClient, NotAnswered, NotAuthenticated } from "../src/index.js";
import { all, answers, failure, next, sees, signedIn, someone } from "./support/people.js";
import { Relay } from "./support/relay.js";

/** The next event about what this conversation asks. */
async function about(events: AsyncGenerator<InboxEvent>, agent: InterlockClient): Promise<InboxEvent> {
  for (;;) {
    const event = await next(events);
    if (event.entry.conversation_id === agent.conversationId) return event;
  }
}

describe("the inbox", () => {
  test("is followed over all conversations: what waits, then what happens", async () => {
    const user = `user-${randomUUID().slice(0, 8)}`;
    const [person, first, second] = [someone({ user }), someone({ user }), someone({ user })] as const;
    const one = first.askClarification("First?");
    await sees(person, first);
    const events = person.followInbox();
    expect(await about(events, first)).toMatchObject({ type: "asked", entry: { headline: "First?" } });
    const two = second.askDecision("Second?", ["a"]);
    await sees(person, second);
    expect(await about(events, second)).toMatchObject({ type: "asked", entry: { kind: "decision" } });
    expect((await all(person.inbox())).map((entry) => entry.headline)).toEqual(["First?", "Second?"]);
    await answers(person, first, { answer: "yes" });
    expect(await about(events, first)).toMatchObject({
      type: "settled",
      entry: { headline: "First?" },
      status: "answered",
      value: { answer: "yes" },
      source: "hitl",
    });
    expect(await one).toBe("yes");
    await answers(person, second, { decision: "a" });
    expect(await about(events, second)).toMatchObject({ type: "settled", value: { decision: "a" } });
    await two;
    const third = someone({ user });
    const three = failure(third.askClarification("Third?"));
    const [seen] = await sees(person, third);
    await about(events, third);
    await person.cancel(String(seen?.request_id), "not now");
    expect(await about(events, third)).toMatchObject({ type: "settled", status: "cancelled", reason: "not now" });
    expect(await three).toBeInstanceOf(NotAnswered);
    await events.return(undefined);
  });

  test("is not followed with a key that was revoked", async () => {
    const alice = await signedIn("alice");
    const made = await alice.createKey("bot", { role: "person" });
    const bot = new InterlockClient({ baseUrl: alice.baseUrl, key: made.key, patience: 0 });
    const { key } = await alice.createKey("inbox", { role: "agent" });
    const agent = new InterlockClient({ baseUrl: alice.baseUrl, key });
    const asked = agent.askClarification("Well?");
    const events = bot.followInbox();
    await sees(alice, agent);
    await about(events, agent);
    await alice.revokeKey(made.id);
    expect(await failure(all(events))).toBeInstanceOf(NotAuthenticated);
    await answers(alice, agent, { answer: "a" });
    await asked;
  }, 30_000);
});

describe("a network that breaks", () => {
  let relay: Relay;
  beforeAll(async () => {
    relay = await Relay.to(inject("open"));
  });
  afterAll(() => relay.close());

  test("hides nothing that was asked or settled, and tells nothing twice", async () => {
    const user = `user-${randomUUID().slice(0, 8)}`;
    const agent = new InterlockClient({ baseUrl: inject("open"), user });
    const person = new InterlockClient({ baseUrl: inject("open"), user });
    const events = new InterlockClient({ baseUrl: relay.url, user }).followInbox();
    const told: InboxEvent[] = [];
    for (const answer of ["a", "b", "c"]) {
      const asked = agent.askClarification(`${answer}?`);
      await sees(person, agent);
      told.push(await about(events, agent));
      relay.cut();
      await answers(person, agent, { answer });
      expect(await asked).toBe(answer);
      told.push(await about(events, agent));
      relay.cut();
    }
    await events.return(undefined);
    expect(told.map((event) => event.type)).toEqual(["asked", "settled", "asked", "settled", "asked", "settled"]);
    expect(told.map((event) => event.entry.headline)).toEqual(["a?", "a?", "b?", "b?", "c?", "c?"]);
  });
});
