import { randomUUID } from "node:crypto";
import { expect, inject, test } from "vitest";
import { Conflict, Forbidden, type InboxEvent } from "../src/index.js";
import { all, failure, next, signedIn } from "./support/people.js";

/** Alice asks, from a program. */
async function ask(group: string, people: number): Promise<string> {
  const alice = await signedIn("alice");
  const { key } = await alice.createKey(`asker-${randomUUID()}`, { role: "agent" });
  const body = {
    type: "permission",
    request_data: { tool_name: "refund", args: { amount: 900 } },
    needs: { people, from: [`group:${group}`] },
  };
  const asked = await fetch(`${inject("closed")}/api/v1/agent/hitl/requests`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  const { data } = (await asked.json()) as { data: { request_id: string } };
  return data.request_id;
}

test("groups, who is away, and what people do with a request beside answering it", async () => {
  const [root, bob] = [await signedIn("root"), await signedIn("bob")];
  const name = `g-${randomUUID().slice(0, 8)}`;
  expect(await root.createGroup(name, ["bob"])).toEqual({ name, source: "local", members: ["bob"] });
  expect(await failure(root.createGroup(name))).toBeInstanceOf(Conflict);
  expect((await root.setGroup(name, ["root", "bob"])).members).toEqual(["bob", "root"]);
  expect(await failure(bob.setGroup(name, []))).toBeInstanceOf(Forbidden);
  expect((await bob.groups()).map((one) => one.name)).toContain(name);
  expect(await bob.findPeople("ALI")).toEqual(["alice"]);

  const until = new Date(Date.now() + 86_400_000);
  expect(Date.parse(String((await bob.setAway(until, { to: "root" }))?.until))).toBe(until.getTime());
  expect((await bob.away())?.to).toBe("root");
  await root.endAway({ person: "bob" });
  expect(await bob.away()).toBeNull();

  const events = bob.followInbox();
  const first = await ask(name, 2);
  const about = async (id: string): Promise<InboxEvent> => {
    for (;;) {
      const event = await next(events);
      if (event.entry.request_id === id) return event;
    }
  };
  expect(await about(first)).toMatchObject({ type: "asked" });
  expect((await all(bob.inbox({ forWhom: `group:${name}` }))).map((one) => one.request_id)).toEqual([first]);
  expect(Date.parse(await bob.claim(first))).toBeGreaterThan(Date.now());
  expect(await about(first)).toMatchObject({ type: "changed", what: "claimed" });
  expect(await failure(root.claim(first))).toBeInstanceOf(Conflict);
  expect((await bob.inboxRequest(first)).people?.claim).toMatchObject({ by: "bob", mine: true });
  const over = await failure(root.respond(first, { granted: true }, { overClaim: false }));
  expect(over).toBeInstanceOf(Conflict);
  expect((over as Conflict).details).toMatchObject({ alias: "CLAIMED", claimed_by: "bob" });
  await bob.release(first);
  expect(await bob.respond(first, { granted: true })).toMatchObject({
    status: "pending",
    votes: { yes: 1, needed: 2 },
  });
  const said = await bob.comment(first, "is this right?");
  expect(await bob.comments(first)).toEqual([said]);
  expect(await bob.withdrawVote(first)).toMatchObject({ yes: 0, needed: 2 });
  expect(await failure(bob.delegate(first, "alice"))).toBeInstanceOf(Forbidden);
  await bob.delegate(first, "root", { note: "yours" });
  expect(await failure(bob.respond(first, { granted: true }))).toBeInstanceOf(Forbidden);
  await root.route(first, ["person:bob"]);
  expect((await bob.explain(first)).request_id).toBe(first);
  await root.cancel(first);
  await events.return(undefined);
  await root.removeGroup(name);
  expect((await root.groups()).map((one) => one.name)).not.toContain(name);
});
