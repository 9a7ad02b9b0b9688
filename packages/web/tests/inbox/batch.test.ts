import { AlreadySettled, Conflict, Expired } from "interlock-client/errors";
import { describe, expect, test } from "vitest";
import { chosenOf, obstacleTo, partsOf, progressOf } from "@/inbox/batch";
import { call, request } from "./calls";
import { moment } from "./entries";

const ALL = new Set(["a", "b", "c"]);

describe("how far a call has come", () => {
  test("before anything was sent", () => {
    expect(progressOf(call("a"))).toEqual({ type: "open" });
    expect(progressOf(call("a", { request: null }))).toEqual({ type: "loading" });
    expect(progressOf(call("a", { request: null, error: new Error("gone") }))).toEqual({
      type: "failed",
      message: "gone",
    });
    expect(progressOf(call("a", { isDeleted: true }))).toEqual({ type: "deleted" });
  });

  test("when somebody else answers it meanwhile", () => {
    const taken = request("a", { status: "answered", answered_by: "li" });
    expect(progressOf(call("a", { request: taken }))).toEqual({ type: "settled", end: taken });
    expect(progressOf(call("a", { request: request("a", { status: "expired" }) }))).toEqual({ type: "expired" });
  });

  test("what was sent counts before what is heard of it", () => {
    const own = request("a", { status: "answered", answered_by: "me" });
    const settled = { request_id: "a", status: "answered", answered_at: moment(0) } as const;
    const done = call("a", { request: own, delivery: { state: "done", act: "accept", settled } });
    expect(progressOf(done)).toEqual({ type: "done", act: "accept", at: moment(0) });
    expect(progressOf(call("a", { delivery: { state: "unsure", act: "accept" } }))).toEqual({ type: "unsure" });
  });

  test("who was first, and what the server did not take", () => {
    const details = { answered_by: "li", answered_at: moment(0), source: "hitl", answer: { decision: "reject" } };
    const late = new AlreadySettled("late", { details: { current_status: "answered", ...details } });
    expect(progressOf(call("a", { delivery: { state: "late", act: "accept", error: late } }))).toEqual({
      type: "late",
      end: {
        kind: "approval",
        status: "answered",
        response: { decision: "reject" },
        answered_by: "li",
        answered_at: moment(0),
        source: "hitl",
        reason: null,
      },
    });
    expect(progressOf(call("a", { delivery: { state: "late", act: "accept", error: new Expired("over") } }))).toEqual({
      type: "lateExpired",
    });
    const error = new Conflict("changed");
    expect(progressOf(call("a", { delivery: { state: "refused", act: "accept", error } }))).toEqual({
      type: "refused",
      message: "changed",
    });
  });
});

describe("what a yes goes to", () => {
  test("to what is ticked and still waits", () => {
    const taken = call("b", { request: request("b", { status: "answered" }) });
    expect(chosenOf([call("a"), taken, call("c")], ALL).map((one) => one.entry.request_id)).toEqual(["a", "c"]);
    expect(chosenOf([call("a"), call("c")], new Set(["c"])).map((one) => one.entry.request_id)).toEqual(["c"]);
  });

  test("every call that is ticked has to be read to its end", () => {
    const calls = [call("a"), call("b"), call("c")];
    const reading = { calls, ticked: ALL, isOffline: false };
    expect(obstacleTo({ ...reading, seen: new Set(["a"]) })).toEqual({ type: "unread", count: 2 });
    expect(obstacleTo({ ...reading, ticked: new Set(["a"]), seen: new Set(["a"]) })).toBeNull();
    expect(obstacleTo({ ...reading, seen: ALL })).toBeNull();
  });

  test("not while one is loading, nothing is ticked, or there is no connection", () => {
    const calls = [call("a"), call("b", { request: null })];
    expect(obstacleTo({ calls, ticked: ALL, seen: ALL, isOffline: false })).toEqual({ type: "loading" });
    expect(obstacleTo({ calls, ticked: new Set(["a"]), seen: ALL, isOffline: false })).toBeNull();
    expect(obstacleTo({ calls, ticked: new Set(), seen: ALL, isOffline: false })).toEqual({ type: "none" });
    expect(obstacleTo({ calls, ticked: ALL, seen: ALL, isOffline: true })).toEqual({ type: "offline" });
  });
});

test("a command is shown apart from the arguments beside it", () => {
  const view = { type: "command" as const, lines: ["ls", "-l"], rest: ["{", '  "cwd": "/"', "}"], details: [] };
  expect(partsOf(request("a", { view }))).toEqual({ lines: ["ls", "-l"], rest: ["{", '  "cwd": "/"', "}"] });
  expect(partsOf(request("a", { view: { ...view, rest: ["{}"] } })).rest).toEqual([]);
});
