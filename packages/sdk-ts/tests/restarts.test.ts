import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InterlockClient } from "../src/index.js";
import { Recorder } from "./support/handlers.js";
import { all, next, sees, until } from "./support/people.js";
import { ServerProcess } from "./support/server.js";

describe("a server that is killed and comes back", () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await ServerProcess.start("none");
  });
  afterAll(() => server.stop());

  test("is not noticed by who asks, follows or confirms, and nobody is asked twice", async () => {
    const baseUrl = server.url;
    const agent = new InterlockClient({ baseUrl, user: "ann" });
    const person = new InterlockClient({ baseUrl, user: "ann" });
    const asked = agent.askClarification("Still there?");
    const [seen] = await sees(person, agent);
    const events = person.follow(agent.conversationId);
    expect((await next(events)).type).toBe("clarification_asked");
    const handler = new Recorder(baseUrl, {
      user: "ann",
      config: { reconnectInterval: 200, maxReconnectAttempts: 200 },
    });
    await handler.sendMessage("create hello.py");
    const step = await until(() => handler.asked[0], Boolean);

    await server.kill();
    // Told while nobody is there: kept, and sent when the server is back.
    await until(
      () => handler.isConnected,
      (connected) => !connected,
    );
    handler.sendConfirmation(String(step?.stepId), { confirmed: true });
    await server.revive();

    expect((await sees(person, agent)).map((one) => one.request_id)).toEqual([seen?.request_id]);
    await person.respond(String(seen?.request_id), { answer: "yes" });
    expect(await next(events)).toMatchObject({ type: "clarification_answered", data: { response: { answer: "yes" } } });
    expect(await asked).toBe("yes");
    await events.return(undefined);
    await until(() => handler.answers.length, Boolean);
    expect(handler.asked).toHaveLength(1);
    expect(handler.errors).toEqual([]);
    handler.close();
  }, 90_000);

  test("hides nothing of the inbox from who follows it, and tells nothing twice", async () => {
    const agent = () => new InterlockClient({ baseUrl: server.url, user: "bo" });
    const person = new InterlockClient({ baseUrl: server.url, user: "bo" });
    const told: string[] = [];
    const following = new AbortController();
    const followed = (async () => {
      for await (const { type, entry } of person.followInbox({ signal: following.signal }))
        told.push(`${type} ${entry.headline}`);
    })().catch(() => {});
    const expected: string[] = [];
    for (const round of ["1", "2", "3"]) {
      const [early, late] = [agent(), agent()] as const;
      const first = early.askClarification(`early ${round}`);
      const [seen] = await sees(person, early);
      await until(
        () => told,
        (so) => so.includes(`asked early ${round}`),
      );
      // Answered at the moment of the crash, and asked while nobody is there.
      const answered = person.respond(String(seen?.request_id), { answer: "yes" });
      await server.kill();
      const second = late.askClarification(`late ${round}`);
      await server.revive();
      await answered.catch(() => {});
      for (const one of await all(person.pending(early.conversationId)))
        await person.respond(one.request_id, { answer: "yes" });
      expect(await first).toBe("yes");
      const [other] = await sees(person, late);
      // What is asked and answered while a follower is away is not told to it afterwards.
      await until(
        () => told,
        (so) => so.includes(`asked late ${round}`),
      );
      await person.respond(String(other?.request_id), { answer: "no" });
      expect(await second).toBe("no");
      expected.push(...["asked early", "settled early", "asked late", "settled late"].map((one) => `${one} ${round}`));
      await until(
        () => told,
        (so) => so.length >= expected.length,
      );
    }
    following.abort();
    await followed;
    expect([...told].sort()).toEqual([...expected].sort());
  }, 180_000);
});
