import type { InboxRequest } from "interlock-client/inbox";
import { describe, expect, it } from "vitest";
import { stroke } from "@/request/model/arming";
import { left } from "@/request/model/countdown";
import { Dwell } from "@/request/model/dwell";
import { LateGuard } from "@/request/model/guard";
import { linesLeft } from "@/request/model/lines-left";
import { obstacleTo } from "@/request/model/obstacle";
import { isWide, offered } from "@/request/model/remember";
import { siblingOf } from "@/request/model/siblings";

describe("arming", () => {
  it("takes a second stroke, not before 400 ms and not after 10 s", () => {
    const first = stroke(null, 1_000);
    expect(first).toEqual({ armed: 1_000, approves: false });
    expect(stroke(first.armed, 1_399)).toEqual({ armed: 1_000, approves: false });
    expect(stroke(first.armed, 1_400)).toEqual({ armed: null, approves: true });
    expect(stroke(first.armed, 10_999).approves).toBe(true);
    expect(stroke(first.armed, 11_000)).toEqual({ armed: 11_000, approves: false });
  });
});

describe("the late-key guard", () => {
  it("holds for 500 ms after something appeared or changed", () => {
    const guard = new LateGuard(0);
    expect(guard.holds(499)).toBe(true);
    expect(guard.holds(500)).toBe(false);
    guard.changed(600);
    expect(guard.holds(1_099)).toBe(true);
    expect(guard.holds(1_100)).toBe(false);
  });

  it("holds after a move, and not while things stay where they are", () => {
    const guard = new LateGuard(0);
    guard.at({ top: 10, left: 0 }, 600);
    expect(guard.holds(600)).toBe(false);
    guard.at({ top: 10, left: 0 }, 700);
    expect(guard.holds(700)).toBe(false);
    guard.at({ top: 30, left: 0 }, 800);
    expect(guard.holds(1_299)).toBe(true);
    expect(guard.holds(1_300)).toBe(false);
  });
});

describe("the guard against hammering", () => {
  it("holds until there was a pause in what is pressed", () => {
    const guard = new LateGuard(0);
    for (let now = 100; now <= 3_000; now += 100) guard.pressed("pointer", now);
    expect(guard.holds(3_000, "pointer")).toBe(true);
    guard.pressed("pointer", 3_699);
    expect(guard.holds(3_699, "pointer")).toBe(true);
    guard.pressed("pointer", 4_399);
    expect(guard.holds(4_399, "pointer")).toBe(false);
    guard.pressed("pointer", 4_450);
    expect(guard.holds(4_450, "pointer")).toBe(false);
    guard.changed(5_000);
    guard.pressed("pointer", 5_600);
    expect(guard.holds(5_600, "pointer")).toBe(true);
  });

  it("knows keys apart", () => {
    const guard = new LateGuard(0);
    for (let now = 100; now <= 1_000; now += 100) guard.pressed("x", now);
    guard.pressed("enter", 1_050);
    expect(guard.holds(1_050, "enter")).toBe(false);
    expect(guard.holds(1_050, "x")).toBe(true);
  });
});

describe("dwell", () => {
  it("counts visible time only", () => {
    const dwell = new Dwell();
    dwell.show(100);
    dwell.show(150);
    dwell.hide(300);
    dwell.hide(900);
    expect(dwell.at(2_000)).toBe(200);
    dwell.show(2_000);
    expect(dwell.at(2_050)).toBe(250);
  });
});

describe("the countdown", () => {
  it("speaks in minutes, and in clock time under two of them", () => {
    expect(left(12 * 60_000 + 500)).toEqual({ unit: "minutes", count: 12 });
    expect(left(105_000)).toEqual({ unit: "clock", text: "1:45" });
    expect(left(4_100)).toEqual({ unit: "clock", text: "0:05" });
    expect(left(0)).toEqual({ unit: "none" });
    expect(left(5 * 3_600_000)).toEqual({ unit: "hours", count: 5 });
    expect(left(72 * 3_600_000)).toEqual({ unit: "days", count: 3 });
  });
});

describe("lines left", () => {
  it("counts whole blocks below the edge, and a part of the one that crosses it", () => {
    const blocks = [
      { top: 0, bottom: 100, lines: 5 },
      { top: 100, bottom: 300, lines: 10 },
      { top: 300, bottom: 500, lines: 10 },
    ];
    expect(linesLeft(blocks, 500)).toBe(0);
    expect(linesLeft(blocks, 300)).toBe(10);
    expect(linesLeft(blocks, 290)).toBe(11);
    expect(linesLeft(blocks, 0)).toBe(25);
  });
});

describe("what stands before a yes", () => {
  const clear = {
    isStale: false,
    hasSeenEnd: true,
    code: null,
    typed: "",
    edit: "none",
  } as const;

  it("is nothing for a call that was read to its end", () => {
    expect(obstacleTo(clear)).toBeNull();
  });

  it("is the end, the file, the form and the code, in the order in which they matter", () => {
    expect(obstacleTo({ ...clear, isStale: true, hasSeenEnd: false })).toEqual({ type: "stale" });
    expect(obstacleTo({ ...clear, hasSeenEnd: false })).toEqual({ type: "unread", isEdited: false });
    expect(obstacleTo({ ...clear, edit: "misfit", code: "1234" })).toEqual({ type: "misfit" });
    expect(obstacleTo({ ...clear, edit: "unchanged" })).toEqual({ type: "unchanged" });
    expect(obstacleTo({ ...clear, code: "1234" })).toEqual({ type: "code", isWrong: false });
    expect(obstacleTo({ ...clear, code: "1234", typed: "1235" })).toEqual({ type: "code", isWrong: true });
    expect(obstacleTo({ ...clear, code: "1234", typed: "1234" })).toBeNull();
  });
});

describe("remembering", () => {
  const approval = { kind: "approval", risk: "medium", allow_remember: true } as const;

  it("offers six ways for what is not risky, and only the very same call for what is", () => {
    expect(offered(approval)).toHaveLength(6);
    expect(offered({ ...approval, risk: null })).toHaveLength(6);
    for (const risk of ["high", "critical"] as const) {
      expect(offered({ ...approval, risk }).map((one) => one.scope)).toEqual(["this_action", "this_action"]);
    }
  });

  it("offers nothing where the request does not allow it, or is no approval", () => {
    expect(offered({ ...approval, allow_remember: false })).toEqual([]);
    expect(offered({ ...approval, kind: "decision" })).toEqual([]);
  });

  it("asks for the code when all tools are meant", () => {
    expect(isWide({ scope: "all_tools", duration: "session" })).toBe(true);
    expect(isWide({ scope: "this_tool", duration: "forever" })).toBe(false);
    expect(isWide(null)).toBe(false);
  });
});

describe("siblings", () => {
  const request = { request_id: "b", siblings: ["a", "b", "c"] } satisfies Partial<InboxRequest>;

  it("are found on both sides, and end at the ends", () => {
    expect(siblingOf(request, -1)).toBe("a");
    expect(siblingOf(request, 1)).toBe("c");
    expect(siblingOf({ ...request, request_id: "c" }, 1)).toBeNull();
    expect(siblingOf({ ...request, request_id: "x" }, -1)).toBeNull();
  });
});
