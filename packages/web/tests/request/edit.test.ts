import { InvalidInput } from "interlock-client/errors";
import type { JsonObject } from "interlock-client/json";
import { describe, expect, it } from "vitest";
import { changesOf } from "@/request/edit/changes";
import { blank, type Field, formOf, readNumber } from "@/request/edit/fields";
import { misfitsOf, serverMisfits } from "@/request/edit/misfits";

function fieldsIn(schema: JsonObject | null, args: JsonObject): Record<string, Field> {
  const { field } = formOf(schema, args);
  if (field.type !== "object") throw new Error(`a form of ${field.type}`);
  return Object.fromEntries(field.entries.map((entry) => [entry.name, entry.field]));
}

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    path: { type: "string", maxLength: 10 },
    count: { type: "integer", minimum: 1 },
    ratio: { type: "number" },
    force: { type: "boolean" },
    mode: { enum: ["fast", "slow"] },
    note: { anyOf: [{ type: "string" }, { type: "null" }] },
    either: { type: ["integer", "string"] },
    tags: { type: "array", items: { type: "string" } },
    where: { $ref: "#/$defs/place" },
    any: {},
    mixed: {
      anyOf: [
        { type: "object", properties: {} },
        { type: "object", properties: {} },
      ],
    },
    tree: { $ref: "#/$defs/tree" },
  },
  required: ["path"],
  additionalProperties: false,
  $defs: {
    place: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    tree: { type: "object", properties: { child: { $ref: "#/$defs/tree" } } },
  },
};

describe("a form made of a schema", () => {
  it("has a field of the type of each argument", () => {
    const fields = fieldsIn(SCHEMA, { path: "a" });
    expect(fields.path).toEqual({ type: "text" });
    expect(fields.count).toEqual({ type: "number", isWhole: true });
    expect(fields.ratio).toEqual({ type: "number", isWhole: false });
    expect(fields.force).toEqual({ type: "boolean" });
    expect(fields.mode).toEqual({ type: "choice", values: ["fast", "slow"] });
    expect(fields.note).toEqual({ type: "either", variants: [{ type: "text" }, { type: "null" }] });
    expect(fields.either).toMatchObject({ type: "either", variants: [{ type: "number" }, { type: "text" }] });
    expect(fields.tags).toEqual({ type: "list", item: { type: "text" } });
    expect(fields.where).toMatchObject({ type: "object", entries: [{ name: "city", isRequired: true }] });
  });

  it("leaves to JSON what it cannot say", () => {
    const fields = fieldsIn(SCHEMA, { path: "a" });
    expect(fields.any).toEqual({ type: "raw" });
    expect(fields.mixed).toEqual({ type: "raw" });
    expect(JSON.stringify(fields.tree)).toContain('"raw"');
    expect(formOf({ type: "object", additionalProperties: true }, {}).field).toEqual({ type: "raw" });
  });

  it("keeps a value that is not of the schema's type as JSON, and shows what the schema does not know", () => {
    const fields = fieldsIn(SCHEMA, { path: 7, tags: ["a", 1], other: true });
    expect(fields.path).toEqual({ type: "raw" });
    expect(fields.tags).toEqual({ type: "raw" });
    expect(fields.other).toEqual({ type: "raw" });
  });

  it("keeps the types of the arguments where there is no schema", () => {
    const args = { a: "x", b: 1, c: false, d: ["x"], e: { f: 2 }, g: null, h: [1, "x"] };
    const fields = fieldsIn(null, args);
    expect(fields).toMatchObject({
      a: { type: "text" },
      b: { type: "number" },
      c: { type: "boolean" },
      d: { type: "list", item: { type: "text" } },
      e: { type: "object" },
      g: { type: "raw" },
      h: { type: "raw" },
    });
    expect(misfitsOf(formOf(null, args).schema, args)).toEqual([]);
    expect(misfitsOf(formOf(null, args).schema, { ...args, b: "1" })).toMatchObject([{ path: "b", reason: "type" }]);
  });

  it("begins new values with what the type has", () => {
    const fields = fieldsIn(SCHEMA, { path: "a" });
    expect(blank(fields.where as Field)).toEqual({ city: "" });
    expect(blank(fields.mode as Field)).toBe("fast");
    expect(blank(fields.note as Field)).toBe("");
    expect(blank(fields.tags as Field)).toEqual([]);
  });
});

describe("a number that is typed", () => {
  it("counts as one only when it is one, and stays exact", () => {
    expect(readNumber("12", true)).toBe(12);
    expect(readNumber("-0.5", false)).toBe(-0.5);
    expect(readNumber("1.5", true)).toBe("1.5");
    expect(readNumber("", false)).toBe("");
    expect(readNumber("12345678901234567890", true)).toBe("12345678901234567890");
    expect(readNumber("0x10", false)).toBe("0x10");
  });
});

describe("misfits", () => {
  it("are named by the place of the argument and the reason", () => {
    const args = { count: 0, ratio: "x", mode: "no", tags: ["a", 2], where: {}, other: 1 };
    const found = Object.fromEntries(misfitsOf(SCHEMA, args).map((one) => [one.path, one.reason]));
    expect(found).toEqual({
      path: "missing",
      count: "low",
      ratio: "type",
      mode: "choice",
      "tags.1": "type",
      "where.city": "missing",
      other: "unknown",
    });
  });

  it("are none for what fits, and for a schema that cannot be read", () => {
    expect(misfitsOf(SCHEMA, { path: "a", note: null })).toEqual([]);
    expect(misfitsOf({ $ref: "#/nowhere" }, { a: 1 })).toEqual([]);
  });

  it("are the server's too", () => {
    const errors = [
      { field: "args.path", code: "missing", message: "args.path is required" },
      { field: "code", code: "wrong", message: "no" },
    ];
    const found = serverMisfits(new InvalidInput("no", { details: { errors } }));
    expect(found).toEqual([{ path: "path", reason: "other", message: "args.path is required" }]);
    expect(serverMisfits(new Error("x"))).toEqual([]);
  });
});

describe("changes", () => {
  it("are found argument by argument", () => {
    const before = { path: "/important/db.sql", deep: { a: 1, b: 2 }, gone: true };
    const after = { deep: { b: 3, a: 1 }, path: "/scratch/db.sql", fresh: null };
    const found = changesOf(before, after);
    expect(found.map((one) => one.path)).toEqual(["path", "deep.b", "gone", "fresh"]);
    expect(found[0]?.rows.map((row) => [row.type, row.text])).toEqual([
      ["removed", '"/important/db.sql"'],
      ["added", '"/scratch/db.sql"'],
    ]);
    expect(found[3]?.rows).toMatchObject([{ type: "added", text: "null" }]);
  });

  it("show texts line by line, and tell types apart", () => {
    const [text] = changesOf({ a: "one\ntwo" }, { a: "one\n2" });
    expect(text?.rows.map((row) => [row.type, row.text])).toEqual([
      ["same", "one"],
      ["removed", "two"],
      ["added", "2"],
    ]);
    expect(changesOf({ a: 1 }, { a: "1" })).toHaveLength(1);
    expect(changesOf({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual([]);
  });
});
