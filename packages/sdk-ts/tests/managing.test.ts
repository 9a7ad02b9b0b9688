import { describe, expect, test } from "vitest";
import { InterlockClient, NotAuthenticated, NotFound } from "../src/index.js";
import { all, answers, failure, signedIn } from "./support/people.js";

describe("people manage", () => {
  test("their keys", async () => {
    const bob = await signedIn("bob");
    const expiresAt = new Date(Date.now() + 3_600_000);
    const made = await bob.createKey("laptop", { expiresAt });
    expect(made.key).toMatch(/^ms_sk_[0-9a-f]{64}$/);
    expect((await bob.keys()).map((key) => key.id)).toContain(made.id);
    const laptop = new InterlockClient({ baseUrl: bob.baseUrl, key: made.key });
    expect(await laptop.grants()).toEqual(await bob.grants());
    await bob.revokeKey(made.id);
    expect(await failure(laptop.grants())).toBeInstanceOf(NotAuthenticated);
    expect(await failure(bob.revokeKey("key_unknown"))).toBeInstanceOf(NotFound);
  });

  test("what is remembered, and what is saved; and see who did what", async () => {
    const bob = await signedIn("bob");
    const { key } = await bob.createKey("rememberer", { role: "agent" });
    const agent = new InterlockClient({ baseUrl: bob.baseUrl, key });
    const asked = agent.askApproval("note", { text: "a" });
    await answers(bob, agent, { granted: true, remember: true, duration: "session", scope: "this_tool" });
    expect((await asked).granted).toBe(true);
    // Nobody is asked again.
    expect((await agent.askApproval("note", { text: "b" })).granted).toBe(true);
    const [grant] = (await bob.grants()).filter((one) => one.tool === "note");
    await bob.revokeGrant(String(grant?.id));
    expect((await bob.grants()).map((one) => one.id)).not.toContain(grant?.id);

    const needed = agent.askEnvVars(["CITY"]);
    await answers(bob, agent, { values: { CITY: "Lisbon" }, save: true });
    expect(await needed).toEqual({ CITY: "Lisbon" });
    const [saved] = (await bob.secrets()).filter((one) => one.name === "CITY");
    await bob.deleteSecret(String(saved?.id));
    expect((await bob.secrets()).map((one) => one.id)).not.toContain(saved?.id);

    const trail = await all(bob.audit(agent.conversationId, { pageSize: 2 }));
    expect(trail.length).toBeGreaterThan(2);
    expect(trail.map((entry) => entry.actor)).toContain("bob");
  });
});
