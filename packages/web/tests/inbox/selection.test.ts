import { expect, test } from "vitest";
import { alike, MOST, misfitOf } from "@/inbox/selection";
import { entry } from "./entries";

test("low-risk approvals of one agent and one tool go together", () => {
  expect(misfitOf(entry("a"), [])).toBeNull();
  expect(misfitOf(entry("b"), [entry("a")])).toBeNull();
});

test.each([
  ["kind", { kind: "clarification", tool: null, risk: null }],
  ["risk", { risk: "medium", batchable: false }],
  ["risk", { risk: "high", batchable: false }],
  ["risk", { risk: null, batchable: false }],
  ["accept", { batchable: false }],
  ["agent", { agent: "ops" }],
  ["tool", { tool: "ls" }],
] as const)("another %s is refused", (misfit, given) => {
  expect(misfitOf(entry("b", given), [entry("a")])).toBe(misfit);
});

test("twenty are enough", () => {
  const selected = Array.from({ length: MOST }, (_, index) => entry(`r${index}`));
  expect(misfitOf(entry("one-more"), selected)).toBe("full");
});

test("all that are alike are found, and no more than twenty", () => {
  const others = Array.from({ length: 30 }, (_, index) => entry(`r${index}`, index % 3 ? {} : { tool: "ls" }));
  const chosen = alike(others, [entry("first")]);
  expect(chosen).toHaveLength(MOST);
  expect(chosen.every((one) => one.tool === "read_file")).toBe(true);
  expect(alike([entry("first")], [entry("first")])).toHaveLength(1);
});
