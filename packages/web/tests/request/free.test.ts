import { describe, expect, it } from "vitest";
import { chosen, freeValue, NOTHING } from "@/request/model/free";

describe("what a graph gets that did not say what it takes", () => {
  it("is nothing until something is chosen", () => {
    expect(chosen(NOTHING).state).toBe("missing");
    expect(chosen({ ...NOTHING, text: "kept from before" }).state).toBe("missing");
    expect(chosen({ ...NOTHING, way: "text", text: "  " }).state).toBe("missing");
  });

  it("is a real yes or no, and never a text that reads like one", () => {
    expect(freeValue({ ...NOTHING, way: "yes" })).toEqual({ answer: true });
    expect(freeValue({ ...NOTHING, way: "no", text: "yes" })).toEqual({ answer: false });
    expect(chosen({ ...NOTHING, way: "no" })).toMatchObject({ spelled: "false" });
  });

  it("is a text as it was written, which the server may refuse", () => {
    expect(freeValue({ ...NOTHING, way: "text", text: "no" })).toEqual({ answer: "no" });
    expect(chosen({ ...NOTHING, way: "text", text: 'a "b"' })).toMatchObject({ spelled: '"a \\"b\\""' });
    expect(freeValue({ ...NOTHING, option: "no" })).toEqual({ answer: "no" });
  });

  it("is JSON, wrapped so that nothing in it is taken for a wrapper", () => {
    expect(freeValue({ ...NOTHING, way: "json", json: '{"text": "no"}' })).toEqual({
      answer: { json: { text: "no" } },
    });
    expect(freeValue({ ...NOTHING, way: "json", json: "null" })).toEqual({ answer: { json: null } });
    expect(chosen({ ...NOTHING, way: "json", json: "{" }).state).toBe("noJson");
    expect(chosen({ ...NOTHING, way: "json", json: "9007199254740993" }).state).toBe("unsafe");
  });
});
