import type { KeyEntry } from "interlock-client/wire";
import { describe, expect, it } from "vitest";
import { expiryAfter, holds } from "@/settings/key-facts";

const NOW = Date.parse("2026-01-31T12:00:00Z");

function key(fields: Partial<KeyEntry>): KeyEntry {
  const times = { created_at: "2026-01-01T00:00:00Z", expires_at: null, last_used_at: null, revoked_at: null };
  return { id: "key_1", name: "laptop", role: "person", agent: null, owner_id: "user_1", ...times, ...fields };
}

describe("a key", () => {
  it("holds until it is revoked or its time has come", () => {
    expect(holds(key({}), NOW)).toBe(true);
    expect(holds(key({ expires_at: "2026-02-01T00:00:00Z" }), NOW)).toBe(true);
    expect(holds(key({ expires_at: "2026-01-31T12:00:00Z" }), NOW)).toBe(false);
    expect(holds(key({ revoked_at: "2026-01-02T00:00:00Z" }), NOW)).toBe(false);
  });

  it("that is made holds for so many days, or without end", () => {
    expect(expiryAfter(7, NOW)).toBe("2026-02-07T12:00:00.000Z");
    expect(expiryAfter(0, NOW)).toBeUndefined();
  });
});
