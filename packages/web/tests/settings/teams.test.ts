import { describe, expect, it } from "vitest";
import { momentOf, spelledTime, standingAt } from "@/settings/away/times";
import { membersOf, typedOf } from "@/settings/groups/members";

describe("members of a group", () => {
  it("are one a line, each once, without blanks around", () => {
    expect(membersOf(" ann \n\nbob\r\nann\n")).toEqual(["ann", "bob"]);
    expect(membersOf("  \n")).toEqual([]);
    expect(membersOf(typedOf(["ann", "b c"]))).toEqual(["ann", "b c"]);
  });
});

describe("when somebody is away", () => {
  it("is typed by their own clock, and sent as a moment", () => {
    const moment = momentOf("2026-03-01T09:30");
    expect(moment).toMatch(/^2026-0[23]-.*Z$/);
    expect(spelledTime(moment ?? "")).toBe("2026-03-01T09:30");
    expect([momentOf(""), momentOf("tomorrow")]).toEqual([null, null]);
  });

  it("begins with the first moment, and is over with the last", () => {
    const away = { from: "2026-03-01T10:00:00Z", until: "2026-03-02T10:00:00Z" };
    const at = (time: string) => standingAt(away, Date.parse(time));
    expect(at("2026-03-01T09:59:59Z")).toBe("later");
    expect(at("2026-03-01T10:00:00Z")).toBe("away");
    expect(at("2026-03-02T10:00:00Z")).toBe("over");
  });
});
