import { expect, test } from "vitest";
import { arrived, newsOf } from "@/shell/notices";
import { entry } from "../inbox/entries";
import { people } from "../request/request";

test("one call is told by its kind, agent, tool and risk, and by nothing of its arguments", () => {
  const news = newsOf([entry("a", { headline: 'read_file "secret.txt"', risk: "high" })]);
  expect(news).toEqual({
    type: "call",
    requestId: "a",
    kind: "approval",
    agent: "demo",
    tool: "read_file",
    risk: "high",
  });
  expect(JSON.stringify(news)).not.toContain("secret");
});

test("a question is told without what it asks", () => {
  const news = newsOf([entry("a", { kind: "clarification", tool: null, risk: null, headline: "Your password?" })]);
  expect(news).toEqual({ type: "one", requestId: "a", kind: "clarification", agent: "demo" });
});

test("several are told as a number, with the highest risk among them", () => {
  const news = newsOf([entry("a"), entry("b", { risk: "critical", agent: "ops" }), entry("c", { risk: null })]);
  expect(news).toEqual({ type: "many", count: 3, agents: "demo, ops", risk: "critical" });
});

test("names are spelled out and cut", () => {
  const news = newsOf([entry("a", { tool: `rm\u202e${"x".repeat(100)}` })]);
  expect(news?.type === "call" && news.tool.startsWith("rm‹U+202E RLO›x")).toBe(true);
  expect(news?.type === "call" && [...news.tool].length).toBe(60);
});

test("nothing is told of nothing", () => {
  expect(newsOf([])).toBeNull();
});

test("what is put only now to whoever may decide it is news to them, and no news to who may not", () => {
  const routed = (may_answer: boolean) =>
    ({ type: "routed", entry: entry("a", { people: people({ may_answer }) }) }) as const;
  expect(arrived(routed(true))?.request_id).toBe("a");
  expect(arrived(routed(false))).toBeNull();
  expect(arrived({ type: "asked", entry: entry("b") })?.request_id).toBe("b");
  expect(arrived({ type: "commented", requestId: "a" })).toBeNull();
});
