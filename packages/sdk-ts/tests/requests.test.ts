import { beforeAll, describe, expect, inject, test } from "vitest";
import {
  AlreadySettled,
  Forbidden,
  InterlockClient,
  InvalidInput,
  isAsked,
  isSettled,
  NotAuthenticated,
  NotFound,
  type RequestAsked,
  type RequestSettled,
} from "../src/index.js";
import { frames } from "../src/sse.js";
import { answers, failure, next, sees, signedIn } from "./support/people.js";

describe("people", () => {
  let alice: InterlockClient;
  let bob: InterlockClient;
  let root: InterlockClient;
  let agent: InterlockClient;

  beforeAll(async () => {
    [root, alice, bob] = await Promise.all([signedIn("root"), signedIn("alice"), signedIn("bob")]);
    const { key } = await alice.createKey("requests", { role: "agent" });
    agent = new InterlockClient({ baseUrl: alice.baseUrl, key });
  });

  test("who answer at once are told who was first", async () => {
    const asked = agent.askClarification("Who is first?");
    const [seen] = await sees(alice, agent);
    const id = String(seen?.request_id);
    const both = await Promise.allSettled([alice.respond(id, { answer: "a" }), root.respond(id, { answer: "r" })]);
    const late = both.filter((one) => one.status === "rejected").map((one) => one.reason);
    expect(late).toHaveLength(1);
    expect(late[0]).toBeInstanceOf(AlreadySettled);
    const winner = both[0].status === "fulfilled" ? "alice" : "root";
    expect(late[0]).toMatchObject({
      answeredBy: winner,
      source: "hitl",
      answer: { answer: winner[0] },
      reason: undefined,
      status: 400,
      code: "HITL_REQUEST_NOT_PENDING",
    });
    expect((late[0] as AlreadySettled).answeredAt).toMatch(/Z$/);
    expect(await asked).toBe(winner[0]);
  });

  test("may wait for the answer of another", async () => {
    const asked = agent.askClarification("Well?");
    const [seen] = await sees(alice, agent);
    const id = String(seen?.request_id);
    expect((await alice.request(id)).status).toBe("pending");
    const looking = alice.request(id, { waitSeconds: 30 });
    await alice.respond(id, { answer: "yes" }, { metadata: { from: "a test" } });
    expect((await looking).response).toEqual({ answer: "yes" });
    await asked;
  });

  test("are told of what is asked and settled, from what is pending on", async () => {
    const asked = agent.askApproval("deploy", { to: "production" });
    await sees(alice, agent);
    const stop = new AbortController();
    const events = alice.follow(agent.conversationId, { signal: stop.signal });
    const first = (await next(events)) as RequestAsked;
    expect(isAsked(first)).toBe(true);
    expect(first).toMatchObject({
      type: "permission_asked",
      data: { tool_name: "deploy", args: { to: "production" } },
    });
    await alice.respond(first.request_id, { granted: true });
    const second = (await next(events)) as RequestSettled;
    expect(isSettled(second)).toBe(true);
    expect(second).toMatchObject({ type: "permission_replied", data: { answered_by: "alice", source: "hitl" } });
    expect((await asked).granted).toBe(true);
    const waiting = failure(events.next());
    stop.abort(new Error("seen enough"));
    expect(await waiting).toMatchObject({ message: "seen enough" });
    const again = alice.follow(agent.conversationId, { lastEventId: String(first.id) });
    expect(await next(again)).toEqual(second);
    await again.return(undefined);
  });

  test("open an EventSource with a ticket, once", async () => {
    const asked = agent.askClarification("Over EventSource?");
    await sees(alice, agent);
    const url = await alice.eventSourceUrl(agent.conversationId);
    const response = await fetch(url);
    expect(response.status).toBe(200);
    for await (const frame of frames(response.body as unknown as AsyncIterable<Uint8Array>)) {
      expect(frame.event).toBe("clarification_asked");
      break;
    }
    expect((await fetch(url)).status).toBe(401);
    await answers(alice, agent, { answer: "yes" });
    await asked;
  });

  test("reach nothing that is another's", async () => {
    const asked = agent.askClarification("Mine?");
    const [seen] = await sees(alice, agent);
    const id = String(seen?.request_id);
    expect(await failure(bob.respond(id, { answer: "mine" }))).toBeInstanceOf(Forbidden);
    expect(await failure(bob.request(id))).toBeInstanceOf(Forbidden);
    expect(await failure(bob.cancel(id))).toBeInstanceOf(Forbidden);
    expect(await failure(bob.pending(agent.conversationId).next())).toBeInstanceOf(Forbidden);
    expect(await failure(bob.follow(agent.conversationId).next())).toBeInstanceOf(Forbidden);
    await answers(alice, agent, { answer: "yes" });
    await asked;
  });

  test("are told what is not there, and what cannot be meant", async () => {
    expect(await failure(alice.request("clar_00000000"))).toMatchObject({
      code: "HITL_REQUEST_NOT_FOUND",
      status: 404,
    });
    expect(await failure(alice.cancel("clar_00000000"))).toBeInstanceOf(NotFound);
    expect(await failure(alice.request(""))).toBeInstanceOf(InvalidInput);
    expect(() => alice.follow()).toThrow(InvalidInput);
    expect(await failure(alice.respond("x".repeat(300), {}))).toMatchObject({ errors: [{ field: "request_id" }] });
  });

  test("need a credential that holds", async () => {
    const baseUrl = inject("closed");
    const nobody = new InterlockClient({ baseUrl });
    expect(await failure(nobody.pending().next())).toBeInstanceOf(NotAuthenticated);
    expect(await failure(nobody.follow("anything").next())).toBeInstanceOf(NotAuthenticated);
    const wrong = InterlockClient.signIn({ baseUrl }, "alice", "looking-glass");
    expect(await failure(wrong)).toBeInstanceOf(NotAuthenticated);
    expect(() => new InterlockClient({ baseUrl, key: "a", token: "b" })).toThrow(InvalidInput);
    expect(() => new InterlockClient({ baseUrl, key: "a\nb" })).toThrow(InvalidInput);
    expect(() => new InterlockClient({ baseUrl: "http://alice:secret@127.0.0.1" })).toThrow(InvalidInput);
    expect(() => new InterlockClient({ baseUrl: "127.0.0.1:8000" })).toThrow(InvalidInput);
  });

  test("follow until the conversation is deleted", async () => {
    const asked = failure(agent.askClarification("Soon gone?"));
    await sees(alice, agent);
    const where = String(agent.conversationId);
    const events = alice.follow(where);
    expect((await next(events)).type).toBe("clarification_asked");
    await alice.deleteThread(where);
    const rest: string[] = [];
    for await (const event of events) rest.push(event.type);
    expect(rest.filter((type) => type !== "request_cancelled")).toEqual([]);
    expect(await asked).toMatchObject({ code: "not_answered" });
  });
});
