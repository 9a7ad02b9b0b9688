import { expect, test } from "vitest";
import { stretches } from "@/inbox/differences";

test("lines that not every call has are told apart", () => {
  const one = ["{", '  "limit": 10,', '  "path": "a.md"', "}"];
  const other = ["{", '  "limit": 10,', '  "path": "b.md"', "}"];
  expect(stretches(one, [one, other])).toEqual([
    { isSame: true, lines: ["{", '  "limit": 10,'] },
    { isSame: false, lines: ['  "path": "a.md"'] },
    { isSame: true, lines: ["}"] },
  ]);
});

test("a line more in one of them leaves those around it the same", () => {
  const short = ["a", "b", "c"];
  const long = ["a", "x", "b", "c"];
  expect(stretches(long, [short, long]).filter((one) => !one.isSame)).toEqual([{ isSame: false, lines: ["x"] }]);
  expect(stretches(short, [short, long])).toEqual([{ isSame: true, lines: ["a", "b", "c"] }]);
});

test("another order is a difference", () => {
  const calls = [
    ["a", "b"],
    ["b", "a"],
  ];
  expect(stretches(["a", "b"], calls)).toEqual([{ isSame: false, lines: ["a", "b"] }]);
});

test("one call alone differs from nothing", () => {
  expect(stretches(["a"], [["a"]])).toEqual([{ isSame: true, lines: ["a"] }]);
});
