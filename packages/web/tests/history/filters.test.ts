import { describe, expect, it } from "vitest";
import { addressOf, filtersIn, isEmpty, NONE, queryOf } from "@/history/filters";

describe("filters", () => {
  it("are what the address says", () => {
    const search = "?who=li&face=web&tool=100%25%20sure&outcome=edited&from=2026-01-30&to=2026-01-31";
    const found = filtersIn(search);
    expect(found).toEqual({
      who: "li",
      face: "web",
      tool: "100% sure",
      outcome: "edited",
      from: "2026-01-30",
      to: "2026-01-31",
    });
    expect(filtersIn(new URL(addressOf(found), "http://x").search)).toEqual(found);
  });

  it("leave out what nobody can ask for", () => {
    expect(filtersIn("?outcome=maybe&from=yesterday&to=2026-99-99&more=1")).toEqual(NONE);
    expect(filtersIn(`?who=${"x".repeat(100)}`).who).toHaveLength(64);
  });

  it("that are empty have an address without any", () => {
    expect(addressOf(NONE)).toBe("/history");
    expect(isEmpty(NONE)).toBe(true);
    expect(isEmpty({ ...NONE, tool: "ls" })).toBe(false);
  });

  it("take days for the whole of them", () => {
    const { from, to, who } = queryOf({ ...NONE, from: "2026-01-31", to: "2026-01-31" });
    expect(new Date(from ?? "").getTime()).toBe(new Date(2026, 0, 31).getTime());
    expect(new Date(to ?? "").getTime()).toBe(new Date(2026, 1, 1).getTime());
    expect(who).toBeUndefined();
  });
});
