import type { HistoryEntry } from "interlock-client/inbox";
import { describe, expect, it } from "vitest";
import { byDay, endingOf, readFor, whoOf } from "@/history/telling";

function entry(fields: Partial<HistoryEntry>): HistoryEntry {
  return {
    request_id: "perm_1",
    kind: "approval",
    conversation_id: "ann-1",
    agent: "demo",
    tool: "ls",
    headline: "ls",
    outcome: "approved",
    by: "li",
    source: "web",
    origin: "person",
    at: "2026-01-31T12:00:00Z",
    dwell_ms: null,
    digest: null,
    ...fields,
  };
}

describe("an entry", () => {
  it("names who it was", () => {
    expect(whoOf(entry({}))).toEqual({ type: "person", name: "li" });
    expect(whoOf(entry({ origin: "grant", source: "grant" }))).toEqual({ type: "grant", name: "li" });
    expect(whoOf(entry({ origin: "saved", by: "system" }))).toEqual({ type: "saved" });
    expect(whoOf(entry({ outcome: "expired", origin: "default", by: "system" }))).toEqual({ type: "nobody" });
    expect(whoOf(entry({ outcome: "expired", origin: null, by: null }))).toEqual({ type: "nobody" });
    expect(whoOf(entry({ outcome: "cancelled", origin: null, by: "system" }))).toEqual({ type: "server" });
    expect(whoOf(entry({ outcome: "cancelled", origin: null, by: null }))).toEqual({ type: "unknown" });
  });

  it("says how it ended", () => {
    expect(endingOf(entry({}))).toBe("approved");
    expect(endingOf(entry({ origin: "grant" }))).toBe("allowed");
    const atTerminal = entry({ outcome: "cancelled", reason: "answered_at_the_terminal" });
    expect(endingOf(atTerminal)).toBe("atTerminal");
    expect(whoOf(atTerminal)).toEqual({ type: "atTerminal" });
    expect(endingOf(entry({ outcome: "cancelled", reason: "no time" }))).toBe("cancelled");
    expect(endingOf(entry({ outcome: "refused", origin: "grant" }))).toBe("refused");
    expect(endingOf(entry({ outcome: "expired", origin: "default" }))).toBe("expiredDefault");
  });

  it("says how long it was read", () => {
    expect(readFor(null)).toBeNull();
    expect(readFor(21_400)).toEqual({ unit: "seconds", count: 21 });
    expect(readFor(150_000)).toEqual({ unit: "minutes", count: 3 });
  });
});

it("entries stand under their day", () => {
  const days = byDay([
    entry({ at: "2026-01-31T12:00:00Z" }),
    entry({ at: "2026-01-31T11:00:00Z" }),
    entry({ at: "2026-01-29T12:00:00Z" }),
  ]);
  expect(days.map((one) => one.entries.length)).toEqual([2, 1]);
});
