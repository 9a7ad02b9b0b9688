import type { PolicyProblem, ReplayRow } from "interlock-client/wire";
import { describe, expect, it } from "vitest";
import { rowsOf } from "@/settings/policy/cells";
import { marksOf, ordered, spanOf } from "@/settings/policy/marks";

function problem(line: number | null, warning = false): PolicyProblem {
  return { message: `at ${line}`, line, rule: null, warning, test: null };
}

function row(happened: string, ruling: ReplayRow["then"], count: number): ReplayRow {
  // biome-ignore lint/suspicious/noThenProperty: the wire has it
  return { happened, then: ruling, count, samples: [] };
}

describe("what is wrong with a policy", () => {
  it("marks each line once, as what is worst there", () => {
    const marks = marksOf([problem(3, true), problem(3), problem(3, true), problem(5, true), problem(null)]);
    expect([...marks]).toEqual([
      [3, "error"],
      [5, "warning"],
    ]);
  });

  it("stands in the order of the text, warnings last and the whole first", () => {
    const found = ordered([problem(2, true), problem(9), problem(null), problem(4)]);
    expect(found.map(({ line }) => line)).toEqual([null, 4, 9, 2]);
  });

  it("has a place in the text", () => {
    const text = "one\ntwo\n\nfour";
    expect([1, 2, 3, 4].map((line) => text.slice(...spanOf(text, line)))).toEqual(["one", "two", "", "four"]);
    expect(spanOf(text, 9)).toEqual([14, 14]);
  });
});

describe("a replay", () => {
  it("begins with what a person refused and the policy would allow", () => {
    const rows = [row("approved", "allow", 9), row("refused", "allow", 1), row("refused", "ask", 2)];
    expect(rowsOf(rows).map(({ happened, count }) => [happened, count])).toEqual([
      ["refused", 1],
      ["approved", 9],
      ["refused", 2],
    ]);
  });

  it("says so also where there is nothing of it", () => {
    expect(rowsOf([row("approved", "ask", 4)])[0]).toEqual(row("refused", "allow", 0));
  });
});
