import type { AuditEntry } from "interlock-client/wire";
import { describe, expect, it } from "vitest";
import { entriesOf } from "@/history/chain";
import { Sought } from "@/history/result";
import { approval, asks, finish } from "../chat/told";

function entry(number: number, action: string, data: unknown): AuditEntry {
  return {
    conversation_id: "ann-1",
    number,
    at: "2026-01-31T12:00:00Z",
    actor: "ann",
    action,
    data,
    hash: `h${number}`,
  };
}

function numbers(found: AuditEntry[], requestId: string): number[] {
  return entriesOf(found, requestId).map((one) => one.number);
}

describe("the place in the chain", () => {
  const call = { call_id: "c1" };
  const trail = [
    entry(6, "effect.done", call),
    entry(5, "effect.intended", call),
    entry(4, "request.answered", { request_id: "perm_1", ...call }),
    entry(3, "effect.done", { call_id: "c0" }),
    entry(2, "request.extended", { request_id: "perm_1" }),
    entry(1, "request.answered", { request_id: "perm_0", call_id: "c0" }),
  ];

  it("is the request's own entries and those of its call, in order", () => {
    expect(numbers(trail, "perm_1")).toEqual([2, 4, 5, 6]);
    expect(numbers(trail, "perm_0")).toEqual([1, 3]);
    expect(numbers(trail, "perm_9")).toEqual([]);
  });

  it("ends where another request is about a call of the same id", () => {
    const again = [
      entry(8, "effect.done", call),
      entry(7, "request.answered", { request_id: "perm_2", ...call }),
      ...trail,
    ];
    expect(numbers(again, "perm_1")).toEqual([2, 4, 5, 6]);
    expect(numbers(again, "perm_2")).toEqual([7, 8]);
  });

  it("has no effects where the request was about no call", () => {
    const clarified = [
      entry(2, "effect.done", { call_id: "" }),
      entry(1, "request.answered", { request_id: "clar_1" }),
    ];
    expect(numbers(clarified, "clar_1")).toEqual([1]);
  });
});

describe("the result", () => {
  it("is the end of the call after it was asked about", () => {
    const sought = new Sought("perm_1", "c1");
    expect(sought.isFoundIn(finish("3", "ls", "c1", "old"))).toBe(false);
    expect(sought.isFoundIn(asks("5", approval("perm_1", "c1")))).toBe(false);
    expect(sought.isFoundIn(finish("6", "ls", "c2", "other"))).toBe(false);
    expect(sought.isFoundIn(finish("7", "ls", "c1", "new"))).toBe(true);
    expect(sought.end?.output).toBe("new");
  });

  it("is the first end of the call where nobody was asked", () => {
    const sought = new Sought("perm_1", "c1");
    sought.isFoundIn(finish("3", "ls", "c1", "first"));
    sought.isFoundIn(finish("5", "ls", "c1", "second"));
    expect(sought.end?.output).toBe("first");
  });
});
