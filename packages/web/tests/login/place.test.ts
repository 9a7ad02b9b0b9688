import { beforeEach, expect, test } from "vitest";
import { dropToken, nextOf, takeToken } from "@/login/place";

const ORIGIN = "https://interlock.example";

function next(target: string): string {
  return nextOf(`?next=${encodeURIComponent(target)}`, ORIGIN);
}

test("a path of this server is gone to", () => {
  expect(next("/requests/perm_1?kind=approval#end")).toBe("/requests/perm_1?kind=approval#end");
});

test.each([
  "https://evil.example/",
  "//evil.example/",
  "/\\evil.example/",
  "/\t/evil.example/",
  "/.//evil.example/",
  "javascript:alert(1)",
  "evil.example",
  "",
  "/login?next=/login",
])("%j is no place to go to", (target) => {
  expect(next(target)).toBe("/inbox");
});

test("without a wish it is the inbox", () => {
  expect(nextOf("", ORIGIN)).toBe("/inbox");
});

beforeEach(() => {
  dropToken();
  history.replaceState(null, "", "/login?next=%2Fchat");
});

test("the token leaves the address at once, and is given again until it is dropped", () => {
  history.replaceState(null, "", "/login?next=%2Fchat#once=abc-DEF_123");
  expect(takeToken()).toBe("abc-DEF_123");
  expect(location.hash).toBe("");
  expect(location.search).toBe("?next=%2Fchat");
  expect(takeToken()).toBe("abc-DEF_123");
  dropToken();
  expect(takeToken()).toBeNull();
});

test("another hash is no token", () => {
  history.replaceState(null, "", "/login#once=");
  expect(takeToken()).toBeNull();
  expect(location.hash).toBe("");
});
