import { expect, it } from "vitest";
import { addressOf, threadIn } from "@/chat/threads";
import { argumentsOf, isLong, linesIn } from "@/chat/tool-text";

it("arguments are texts as they are, and everything else as JSON", () => {
  expect(argumentsOf({ path: "a\nb", force: true, list: [1] })).toEqual([
    { name: "path", text: "a\nb" },
    { name: "force", text: "true" },
    { name: "list", text: "[\n  1\n]" },
  ]);
  expect(argumentsOf("bare")).toEqual([{ name: "", text: "bare" }]);
  expect(argumentsOf(null)).toEqual([]);
});

it("what is long by lines or by letters is folded", () => {
  expect(isLong(["a", "b"])).toBe(false);
  expect(isLong(["a\n".repeat(9)])).toBe(true);
  expect(isLong(["a".repeat(601)])).toBe(true);
  expect(linesIn(["a\nb", "c"])).toBe(3);
});

it("threads are named in addresses, whatever letters they have", () => {
  for (const name of ["ann-1", "a@b.c-1", "李-1", "50%/x?y#z"]) expect(threadIn(addressOf(name))).toBe(name);
  expect(threadIn("/chat")).toBeNull();
  expect(threadIn("/chat/%zz")).toBe("%zz");
});
