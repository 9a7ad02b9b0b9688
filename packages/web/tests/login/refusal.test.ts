import { errorOf, NetworkError } from "interlock-client/errors";
import { expect, test } from "vitest";
import { misfit, refusalOf } from "@/login/refusal";

const NOW = 1_000_000;

test("a wrong password and a used link are told apart", () => {
  const refused = errorOf(401, { detail: "no" });
  expect(refusalOf(refused, false, NOW)).toEqual({ type: "wrong" });
  expect(refusalOf(refused, true, NOW)).toEqual({ type: "used" });
});

test("too many tries say when there is room again", () => {
  const refused = errorOf(429, { detail: "slow down", code: "rate_limited" }, 6);
  expect(refusalOf(refused, false, NOW)).toEqual({ type: "limited", until: NOW + 6_000, seconds: 6 });
});

test.each([
  ["username", "form", "username"],
  ["username", "taken", "taken"],
  ["password", "length", "password"],
])("a %s with the error %s", (field, code, type) => {
  const refused = errorOf(400, { detail: "no", code: "invalid_input", errors: [{ field, code, message: "no" }] });
  expect(refusalOf(refused, false, NOW)).toEqual({ type });
});

test("closed registration, no connection, and the rest", () => {
  expect(refusalOf(errorOf(403, { detail: "closed" }), false, NOW)).toEqual({ type: "closed" });
  expect(refusalOf(errorOf(403, { detail: "out", code: "kept_out" }), false, NOW)).toEqual({ type: "out" });
  expect(refusalOf(new NetworkError("gone"), false, NOW)).toEqual({ type: "offline" });
  expect(refusalOf(errorOf(500, { detail: "the server failed" }), false, NOW)).toEqual({
    type: "other",
    message: "the server failed",
  });
});

test("two passwords have to be the same", () => {
  expect(misfit("abc", "abd")).toEqual({ type: "repeat" });
  expect(misfit("abc", "abc")).toBeNull();
  expect(misfit("abc", null)).toBeNull();
});
