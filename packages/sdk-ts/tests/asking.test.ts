import { beforeAll, describe, expect, test } from "vitest";
import { Expired, Forbidden, InterlockClient, InvalidInput, InvalidResponse, NotAnswered } from "../src/index.js";
import { all, answers, failure, sees, signedIn, until } from "./support/people.js";

describe("an agent that runs elsewhere", () => {
  let alice: InterlockClient;
  let key: string;
  const agent = () => new InterlockClient({ baseUrl: alice.baseUrl, key, locale: "en" });

  beforeAll(async () => {
    alice = await signedIn("alice");
    key = (await alice.createKey("asking", { role: "agent" })).key;
  });

  test("asks a question, and gets what the person said", async () => {
    const asker = agent();
    const asked = asker.askClarification("Which colour?", { options: ["red", "blue"], allowCustom: false });
    const [seen] = await sees(alice, asker);
    expect(seen?.request_data).toMatchObject({ question: "Which colour?", options: ["red", "blue"] });
    const refused = await failure(alice.respond(String(seen?.request_id), { answer: "green" }));
    expect(refused).toBeInstanceOf(InvalidResponse);
    await alice.respond(String(seen?.request_id), { answer: "red" });
    expect(await asked).toBe("red");
  });

  test("has a decision made, with the reason", async () => {
    const asker = agent();
    const asked = asker.askDecision("Deploy?", [{ key: "go", label: "Go", style: "danger" }, "wait"], { risks: ["a"] });
    await answers(alice, asker, { decision: "go", reason: "it is time" });
    expect(await asked).toEqual({ decision: "go", reason: "it is time" });
  });

  test("is given variables once, and nobody else sees them", async () => {
    const asker = agent();
    const asked = asker.askEnvVars([{ name: "TOKEN", label: "Token", sensitive: true }]);
    const { request_id } = await answers(alice, asker, { values: { TOKEN: "s3cret" } });
    expect(await asked).toEqual({ TOKEN: "s3cret" });
    expect(JSON.stringify(await alice.request(request_id))).not.toContain("s3cret");
  });

  test("asks several questions at once", async () => {
    const asker = agent();
    const asked = asker.askQuestions(["Name?", { question: "Size?", options: ["S", "L"] }]);
    await answers(alice, asker, { answers: ["Ann", "L"] });
    expect(await asked).toEqual(["Ann", "L"]);
  });

  test("runs a tool with the arguments that were shown, whatever became of them meanwhile", async () => {
    const asker = agent();
    const args = { path: "a.txt" };
    const asked = asker.askApproval("delete_file", args, { riskLevel: "high", description: "Delete it" });
    args.path = "everything";
    await answers(alice, asker, { granted: true });
    expect(await asked).toEqual({ decision: "accept", granted: true, args: { path: "a.txt" }, message: "" });
  });

  test("is told the edit, the refusal with its reason, and the reply in the tool's place", async () => {
    const asker = agent();
    const approval = () => asker.askApproval("delete_file", { path: "a" });
    const edited = approval();
    await answers(alice, asker, { granted: true, args: { path: "b" } });
    expect(await edited).toMatchObject({ decision: "edit", granted: true, args: { path: "b" } });
    const refused = approval();
    await answers(alice, asker, { granted: false, reason: "too dear" });
    expect(await refused).toMatchObject({ decision: "reject", granted: false, message: "too dear" });
    const replied = approval();
    await answers(alice, asker, { granted: false, reply: "I did it" });
    expect(await replied).toMatchObject({ decision: "response", granted: false, message: "I did it" });
  });

  test("takes a default at the deadline, and is told when there was none", async () => {
    const asker = agent();
    const dated = { timeoutSeconds: 0.5 };
    expect(await asker.askClarification("Quick?", { default: "fine", ...dated })).toBe("fine");
    const nobody = await failure(asker.askClarification("Quick?", dated));
    expect(nobody).toBeInstanceOf(NotAnswered);
    const { reason, requestId } = nobody as NotAnswered;
    expect(reason).toBe("expired");
    expect(await failure(alice.respond(requestId, { answer: "late" }))).toBeInstanceOf(Expired);
  });

  test("is told that its request was cancelled", async () => {
    const asker = agent();
    const asked = failure(asker.askClarification("Well?"));
    const [seen] = await sees(alice, asker);
    expect((await alice.cancel(String(seen?.request_id), "not now")).status).toBe("cancelled");
    expect(await asked).toMatchObject({ code: "not_answered", reason: "cancelled" });
  });

  test("withdraws what it asked when it no longer waits", async () => {
    const asker = agent();
    const stop = new AbortController();
    const asked = failure(asker.askClarification("Never mind?", { signal: stop.signal, timeoutSeconds: null }));
    await sees(alice, asker);
    stop.abort(new Error("enough"));
    expect(await asked).toMatchObject({ message: "enough" });
    expect(await sees(alice, asker, 0)).toEqual([]);
  });

  test("asks nothing once it was aborted", async () => {
    const asker = agent();
    await failure(asker.askClarification("Never?", { signal: AbortSignal.abort() }));
    expect(asker.conversationId).toBeUndefined();
  });

  test("asks in one conversation, also when the first asks are made at once", async () => {
    const asker = agent();
    const asked = Promise.all([1, 2, 3].map((number) => asker.askClarification(`${number}?`)));
    const seen = await sees(alice, asker, 3);
    await Promise.all(seen.map((one) => alice.respond(one.request_id, { answer: "yes" })));
    expect(await asked).toEqual(["yes", "yes", "yes"]);
    expect(new Set(seen.map((one) => one.conversation_id)).size).toBe(1);
  });

  test("never answers", async () => {
    const asker = agent();
    const stop = new AbortController();
    const asked = failure(asker.askClarification("May I?", { signal: stop.signal }));
    const [seen] = await sees(alice, asker);
    expect(await failure(asker.respond(String(seen?.request_id), { answer: "I may" }))).toBeInstanceOf(Forbidden);
    stop.abort();
    await asked;
  });

  test("is told which field of an ask is wrong, before anybody sees it", async () => {
    const refused = await failure(agent().ask("decision", { title: "Nothing to choose", options: [] }));
    expect(refused).toBeInstanceOf(InvalidResponse);
    expect((refused as InvalidResponse).errors.length).toBeGreaterThan(0);
    expect(await failure(agent().askApproval("t", { n: Number.NaN }))).toBeInstanceOf(InvalidInput);
  });

  test("finds what is pending over all pages, and by what it is", async () => {
    const asker = agent();
    const stop = new AbortController();
    const asked = [1, 2, 3].map((n) => failure(asker.askClarification(`${n}?`, { signal: stop.signal })));
    asked.push(failure(asker.askApproval("rm", {}, { riskLevel: "critical", signal: stop.signal })));
    const seen = await sees(alice, asker, 4);
    const agentName = String(seen[0]?.agent);
    const listed = await all(alice.pending(undefined, { agent: agentName, pageSize: 3 }));
    expect(listed.map((one) => one.request_id)).toEqual(seen.map((one) => one.request_id));
    const risky = await all(alice.pending(undefined, { agent: agentName, risk: "critical" }));
    expect(risky.map((one) => one.type)).toEqual(["permission"]);
    const both = all(alice.pending(asker.conversationId, { type: "decision" }));
    expect(await failure(both)).toBeInstanceOf(InvalidInput);
    stop.abort();
    await Promise.all(asked);
    await until(
      () => all(alice.pending(asker.conversationId)),
      (left) => left.length === 0,
    );
  });
});
