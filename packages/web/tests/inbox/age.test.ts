import { expect, test } from "vitest";
import { age } from "@/inbox/age";

test.each([
  [-5_000, { unit: "now" }],
  [59_999, { unit: "now" }],
  [60_000, { unit: "minutes", count: 1 }],
  [3_599_999, { unit: "minutes", count: 59 }],
  [3_600_000, { unit: "hours", count: 1 }],
  [49 * 3_600_000, { unit: "days", count: 2 }],
] as const)("%i ms", (milliseconds, expected) => {
  expect(age(milliseconds)).toEqual(expected);
});
