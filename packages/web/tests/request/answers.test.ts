import { AlreadySettled, Expired } from "interlock-client/errors";
import type { View } from "interlock-client/inbox";
import { beforeEach, describe, expect, it } from "vitest";
import { changedBy } from "@/request/api/use-request";
import {
  answerOf,
  decisionValue,
  missingAnswers,
  missingValues,
  picked,
  questionsValue,
  variablesValue,
} from "@/request/model/answers";
import { decisionOf, doubtOf, questionsOf, schemaOf, variablesOf } from "@/request/model/bodies";
import { neededCode } from "@/request/model/codes";
import { type Draft, draftText, dropDraft, keepDraft, readDraft, withPick } from "@/request/model/drafts";
import { copyOf, jsonOf, looksOf, nextLook, restOf } from "@/request/model/looks";
import { outcomeOf, situationOf } from "@/request/model/outcome";
import { request } from "./request";

const option = (choice: string): Draft => ({ picks: [{ choice, isOwn: false, own: "" }] });

describe("what is asked", () => {
  it("has options, and own words where they are taken", () => {
    const asked = request({
      kind: "questions",
      body: {
        questions: [
          {
            question: "Colour?",
            options: [
              { label: "Red", value: "red" },
              { label: "Own", value: "__custom__", allow_custom: true },
            ],
          },
          { question: "Animal?", options: [{ label: "Dog", value: "dog" }] },
          { question: "How?", options: [] },
        ],
      },
    });
    expect(questionsOf(asked).map((one) => [one.choices.map((choice) => choice.value), one.takesOwn])).toEqual([
      [["red"], true],
      [["dog"], false],
      [[], true],
    ]);
  });

  it("marks the options that an agent calls dangerous, and lifts none up", () => {
    const body = {
      options: [
        { key: "a", style: "danger" },
        { key: "b", style: "primary" },
      ],
    };
    expect(decisionOf(request({ kind: "decision", in_doubt: true, body })).choices).toEqual([
      { value: "a", label: "a", isRisky: true },
      { value: "b", label: "b", isRisky: false },
    ]);
  });

  it("takes variables for secret and needed unless they are said not to be", () => {
    const body = { fields: [{ name: "KEY" }, { name: "URL", sensitive: false, required: false }] };
    expect(variablesOf(request({ kind: "env_var", body }))).toMatchObject([
      { name: "KEY", isSensitive: true, isRequired: true },
      { name: "URL", isSensitive: false, isRequired: false },
    ]);
  });

  it("knows a call that was cut short, unless the server says that it is none", () => {
    const body = {
      decision_type: "effect_in_doubt",
      description: 'execute {"command":"ls"}',
      options: [{ key: "retry" }, { key: "skip" }, { key: "done" }],
    };
    const doubtful = request({ kind: "decision", in_doubt: true, body });
    expect(doubtOf(doubtful)).toEqual({ tool: "execute", lines: ["{", '  "command": "ls"', "}"] });
    expect(doubtOf({ ...doubtful, in_doubt: false })).toBeNull();
    expect(doubtOf(request({ kind: "decision", body: { ...body, decision_type: "custom" } }))).toBeNull();
    const large = { ...body, description: 'execute {"n":12345678901234567890}' };
    expect(doubtOf(request({ kind: "decision", in_doubt: true, body: large }))?.lines).toEqual([
      '{"n":12345678901234567890}',
    ]);
  });

  it("takes the schema of the server before that of the agent", () => {
    const theirs = { type: "object" };
    expect(schemaOf(request({ body: { tool_schema: theirs } }))).toBe(theirs);
    expect(schemaOf(request({ args_schema: {}, body: { tool_schema: theirs } }))).toEqual({});
    expect(schemaOf(request())).toBeNull();
  });
});

describe("the code", () => {
  const risky = request({ risk: "high", code: "0042" });
  const wide = { scope: "all_tools", duration: "session" } as const;

  it("is needed for a yes to what is risky, edited or not", () => {
    expect(neededCode(risky, "look", null, {})).toBe("0042");
    expect(neededCode(risky, "edit", null, {})).toBe("0042");
    expect(neededCode(risky, "refuse", null, {})).toBeNull();
    expect(neededCode(risky, "reply", null, {})).toBeNull();
    expect(neededCode(request(), "look", null, {})).toBeNull();
  });

  it("is needed to allow or refuse every tool, whatever the risk of this call", () => {
    expect(neededCode(request(), "look", wide, {})).toBe("0017");
    expect(neededCode(request(), "refuse", wide, {})).toBe("0017");
    expect(neededCode(request(), "edit", wide, {})).toBeNull();
  });

  it("is needed for a dangerous option", () => {
    const body = { options: [{ key: "go", style: "danger" }, { key: "stay" }] };
    const decision = request({ kind: "decision", in_doubt: true, body });
    expect(neededCode(decision, "look", null, option("go"))).toBe("0017");
    expect(neededCode(decision, "look", null, option("stay"))).toBeNull();
    expect(neededCode(decision, "dismiss", null, option("go"))).toBeNull();
  });
});

describe("an answer", () => {
  it("says what was shown, and how it was looked at", () => {
    const file = { path: "a", exists: true, text: "", sha256: "abc", modified_at: null, after: "" };
    const shown = request({ file });
    const how = { dwell: 1_200, code: "0042", kept: { scope: "this_tool", duration: "session" } as const };
    expect(answerOf(shown, { decision: "accept" }, how)).toEqual({
      value: { decision: "accept" },
      digest: shown.digest,
      dwell_ms: 1_200,
      code: "0042",
      file_sha256: "abc",
      remember: { scope: "this_tool", duration: "session" },
    });
    expect(answerOf(shown, { decision: "reject" }, { dwell: 0 })).toEqual({
      value: { decision: "reject" },
      digest: shown.digest,
      dwell_ms: 0,
    });
  });

  it("is an option or own words, and nothing for blanks", () => {
    expect(picked({ choice: "a", isOwn: false, own: "words" })).toBe("a");
    expect(picked({ choice: "a", isOwn: true, own: "words" })).toBe("words");
    expect(picked({ choice: "a", isOwn: true, own: "  " })).toBeNull();
  });

  it("is made of what was picked, question by question", () => {
    const questions = [0, 1].map(() => ({ text: "", choices: [], takesOwn: true }));
    const half = withPick({}, 1, { choice: null, isOwn: true, own: "teal" });
    expect(missingAnswers(questions, half)).toEqual([0]);
    const whole = withPick(half, 0, { choice: "red", isOwn: false, own: "" });
    expect(missingAnswers(questions, whole)).toEqual([]);
    expect(questionsValue(request({ kind: "questions" }), questions, whole)).toEqual({ answers: ["red", "teal"] });
    expect(questionsValue(request({ kind: "clarification" }), questions, whole)).toEqual({ answer: "red" });
  });

  it("to a decision carries a reason only where there is one", () => {
    const decision = request({ kind: "decision" });
    expect(decisionValue(decision, option("go"))).toEqual({ decision: "go" });
    expect(decisionValue(decision, { ...option("go"), why: " " })).toEqual({ decision: "go" });
    expect(decisionValue(decision, { ...option("go"), why: "x" })).toEqual({ decision: "go", reason: "x" });
  });

  it("about a call that was cut short carries its result only where it took effect", () => {
    const body = { decision_type: "effect_in_doubt", options: [{ key: "retry" }, { key: "skip" }, { key: "done" }] };
    const doubtful = request({ kind: "decision", in_doubt: true, body });
    expect(decisionValue(doubtful, { ...option("retry"), why: "x" })).toEqual({ decision: "retry" });
    expect(decisionValue(doubtful, { ...option("done"), why: "x" })).toEqual({ decision: "done", reason: "x" });
  });

  it("hands over the values that were given", () => {
    const body = { fields: [{ name: "KEY" }, { name: "URL", required: false }] };
    const variables = variablesOf(request({ kind: "env_var", body }));
    expect(missingValues(variables, {})).toEqual(["KEY"]);
    expect(variablesValue(variables, { KEY: "k", URL: "", OTHER: "x" }, true)).toEqual({
      values: { KEY: "k" },
      save: true,
    });
  });
});

describe("drafts", () => {
  beforeEach(() => sessionStorage.clear());

  it("survive a reload, and go with the answer", () => {
    keepDraft("r", { refusal: "too risky" });
    expect(readDraft("r")).toEqual({ refusal: "too risky" });
    dropDraft("r");
    expect(readDraft("r")).toEqual({});
    expect(sessionStorage.length).toBe(0);
  });

  it("are nothing where nothing was written, or what was kept cannot be read", () => {
    keepDraft("r", { refusal: "", picks: [{ choice: null, isOwn: false, own: "" }] });
    expect(sessionStorage.length).toBe(0);
    sessionStorage.setItem("interlock.draft.r", "{");
    expect(readDraft("r")).toEqual({});
  });

  it("can be copied as one text", () => {
    const draft: Draft = { ...option("eu"), why: "near", values: { URL: "x", NO: "" }, args: { a: 1 } };
    expect(draftText(draft)).toBe('{\n  "a": 1\n}\neu\nnear\nURL=x');
    expect(draftText({})).toBe("");
  });
});

describe("looks", () => {
  const command = request({
    view: { type: "command", lines: ["ls", "rm x"], rest: ["{", '  "cwd": "."', "}"], details: [] },
  });
  const file = { path: "a.py", exists: true, text: "1\n", sha256: "x", modified_at: null, after: "2\n" };
  const view: View = {
    type: "file",
    lines: ["{", '  "content": "2\\n",', '  "mode": 7,', '  "path": "a.py"', "}"],
    rest: [],
    details: [],
  };
  const args = { content: "2\n", mode: 7, path: "a.py" };
  const write = request({ tool: "write_file", body: { args }, file, view });

  it("are by what will run, and go round", () => {
    expect(looksOf(command)).toEqual(["command", "json"]);
    expect(looksOf(write)).toEqual(["diff", "arguments", "json"]);
    expect(looksOf({ ...write, file: { ...file, after: null } })).toEqual(["arguments", "json"]);
    expect(looksOf({ ...write, file: null })).toEqual(["arguments", "json"]);
    expect(nextLook(["command", "json"], "json")).toBe("command");
  });

  it("leave out no argument", () => {
    expect(restOf(command).map((one) => one.name)).toEqual(["cwd"]);
    expect(restOf(write).map((one) => one.name)).toEqual(["mode"]);
    const lines = ["{", '  "content": "2\\n",', '  "copy_to": "a.py",', '  "path": "a.py",', '  "undo": "2\\n"', "}"];
    const body = { args: { content: "2\n", copy_to: "a.py", path: "a.py", undo: "2\n" } };
    expect(restOf({ ...write, body, view: { ...view, lines } }).map((one) => one.name)).toEqual(["copy_to", "undo"]);
    expect(jsonOf(command)).toEqual(["{", '  "command": "ls\\nrm x",', '  "cwd": "."', "}"]);
    expect(copyOf(command, "command")).toBe("ls\nrm x");
  });
});

describe("the situation", () => {
  const now = {
    request: request(),
    delivery: null,
    wasOpen: true,
    isOverdue: false,
    isDeleted: false,
    isOffline: false,
  };
  const answered = { ...now, request: request({ status: "answered" }) };

  it("is open, offline, overdue or deleted while nobody has answered", () => {
    expect(situationOf(now)).toBe("open");
    expect(situationOf({ ...now, isOffline: true })).toBe("offline");
    expect(situationOf({ ...now, isOffline: true, isOverdue: true })).toBe("expired");
    expect(situationOf({ ...now, isDeleted: true })).toBe("deleted");
  });

  it("is taken where somebody else was first while the page was open", () => {
    expect(situationOf(answered)).toBe("taken");
    expect(situationOf({ ...answered, wasOpen: false })).toBe("settled");
    expect(situationOf({ ...now, request: request({ status: "expired" }) })).toBe("expired");
    expect(situationOf({ ...now, delivery: { state: "late", act: "accept", error: new AlreadySettled("x") } })).toBe(
      "taken",
    );
    expect(situationOf({ ...now, delivery: { state: "late", act: "accept", error: new Expired("x") } })).toBe(
      "expired",
    );
  });

  it("never shows success before the server has said so", () => {
    expect(situationOf({ ...answered, delivery: { state: "sending", act: "accept" } })).toBe("sending");
    expect(situationOf({ ...answered, delivery: { state: "unsure", act: "accept" } })).toBe("unsure");
    const settled = { request_id: "r", status: "answered", answered_at: "" } as const;
    expect(situationOf({ ...now, delivery: { state: "done", act: "accept", settled } })).toBe("receipt");
  });

  it("has an outcome by the decision", () => {
    const of = (decision: string) => outcomeOf(request({ status: "answered", response: { decision } }));
    expect(["accept", "edit", "reject", "response"].map(of)).toEqual(["approved", "edited", "refused", "replied"]);
    expect(outcomeOf(request({ kind: "decision", status: "answered", response: { decision: "accept" } }))).toBe(
      "answered",
    );
    expect(outcomeOf(request({ status: "cancelled" }))).toBe("cancelled");
  });
});

describe("what the stream tells", () => {
  it("changes the request that it is about, and no other", () => {
    const before = request();
    const settled = {
      request_id: "perm_1",
      conversation_id: "conv",
      status: "answered",
      answered_by: "li",
      answered_at: "2026-01-01T10:01:00Z",
      source: "hitl",
      value: { decision: "accept" },
    } as const;
    expect(changedBy(before, { type: "settled", settled })).toMatchObject({ status: "answered", answered_by: "li" });
    expect(changedBy(before, { type: "settled", settled: { ...settled, request_id: "x" } })).toBe(before);
    expect(changedBy(before, { type: "extended", requestId: "perm_1", expiresAt: "z" }).expires_at).toBe("z");
    expect(changedBy(before, { type: "looking", requestId: "perm_1", names: ["li"] }).looking).toEqual(["li"]);
    expect(changedBy(before, { type: "reset" })).toBe(before);
  });
});
