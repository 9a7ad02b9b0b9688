import type { InboxRequest, Presentation } from "interlock-client/inbox";
import { describe, expect, it } from "vitest";
import { looksOf, restOf, textsOf } from "@/request/model/looks";
import { request } from "./request";

const CHANGE = {
  path: "a.py",
  act: "edit",
  before: "x",
  after: "y\u200b",
  at: "",
  moved_to: null,
  everywhere: false,
} as const;

function presented(presentation: Presentation, view: Partial<InboxRequest["view"]> = {}): InboxRequest {
  const lines = ["{", '  "file_path": "a.py",', '  "mode": 7', "}"];
  return request({ view: { type: "json", lines, rest: [], details: [], presentation, ...view } });
}

describe("what a coding agent wants", () => {
  it("is looked at as its changes first, with whatever they do not show beside them", () => {
    const edit = presented({ shows: ["file_path"], changes: [CHANGE], markdown: "" });
    expect(looksOf(edit)).toEqual(["diff", "arguments", "json"]);
    expect(restOf(edit).map((one) => one.name)).toEqual(["mode"]);
    expect(textsOf(edit, "diff")).toEqual(expect.arrayContaining(["a.py", "x", "y\u200b", "mode", "7"]));
  });

  it("can be looked at as the command that a patch is", () => {
    const patch = presented(
      { shows: ["command"], changes: [CHANGE], markdown: "" },
      { type: "command", lines: ["*** Begin Patch"], rest: ["{", '  "workdir": "/p"', "}"] },
    );
    expect(looksOf(patch)).toEqual(["diff", "command", "json"]);
    expect(restOf(patch).map((one) => one.name)).toEqual(["workdir"]);
  });

  it("is a plan", () => {
    const plan = presented({ shows: ["file_path"], changes: [], markdown: "# Plan" });
    expect(looksOf(plan)).toEqual(["plan", "arguments", "json"]);
    expect(restOf(plan).map((one) => one.name)).toEqual(["mode"]);
    expect(textsOf(plan, "plan")).toContain("# Plan");
  });
});
