import { describe, expect, it } from "vitest";
import { hiddenIn, type Piece, pieces, runsOf, spelledOut } from "@/text/reveal";

/** What was there, read back from its pieces. */
function readBack(found: readonly Piece[]): string {
  return found.map((piece) => (piece.type === "text" ? piece.text : piece.character.repeat(piece.count))).join("");
}

describe("hidden characters", () => {
  it("are chips of their own while they are few", () => {
    const text = `a${"\u200b".repeat(8)}b`;
    expect(pieces(text)).toHaveLength(10);
    expect(readBack(pieces(text))).toBe(text);
  });

  it("are one chip with their number when they are many, and none of them is lost", () => {
    const text = `rm${"\u200b".repeat(150_000)}${"\u{e0041}".repeat(9)} x`;
    const found = pieces(text);
    expect(found).toHaveLength(4);
    expect(spelledOut(text)).toBe("rm‹U+200B ZWSP ×150000›‹U+E0041 TAG A ×9› x");
    expect(hiddenIn([text])).toBe(150_009);
    expect(readBack(found)).toBe(text);
  });

  it("leave spaces as they are until there are too many", () => {
    expect(pieces(`a${" ".repeat(20)}b\u3000c`)).toHaveLength(1);
    expect(pieces(`a${" ".repeat(21)}b`)).toHaveLength(3);
  });

  it("are not those that only choose how a picture is drawn", () => {
    for (const text of ["⚠\ufe0f careful", "❤\ufe0f❤\ufe0f", "1\ufe0f\u20e3"]) expect(hiddenIn([text])).toBe(0);
    for (const text of ["rm\ufe0f", "1\ufe0f", "⚠\ufe0f\ufe0f", "\ufe0f", "⚠\ufe0e", "🙂\ufe0f"])
      expect(hiddenIn([text])).toBe(1);
  });

  it("may be halves of characters", () => {
    const text = "\ud800".repeat(9);
    expect(spelledOut(text)).toBe("‹U+D800 ×9›");
    expect(readBack(pieces(text))).toBe(text);
  });
});

describe("marks on a letter", () => {
  it("stay where there are two", () => {
    for (const text of ["e\u0301\u0323", "ที่นี่", "שָׁלוֹם", "हिन्दी में"])
      expect(pieces(text)).toEqual([{ type: "text", text }]);
  });

  it("are chips from the third on", () => {
    expect(spelledOut("e\u0301\u0301\u0337x")).toBe("e\u0301\u0301‹U+0337›x");
    const text = `e${"\u0301".repeat(5_000)}x`;
    expect(spelledOut(text)).toBe("e\u0301\u0301‹U+0301 ×4998›x");
    expect(readBack(pieces(text))).toBe(text);
  });
});

describe("words from right to left", () => {
  const runs = (text: string) => runsOf(text).map((run) => (run.isRightToLeft ? `<${run.text}>` : run.text));

  it("are apart from what is around them", () => {
    expect(runs("rm אבג/דהו 12")).toEqual(["rm ", "<אבג>", "/", "<דהו>", " 12"]);
    expect(runs("שָׁלוֹם עולם")).toEqual(["<שָׁלוֹם עולם>"]);
    expect(runs("مرحبا ۱۲")).toEqual(["<مرحبا>", " ۱۲"]);
    expect(runs("plain")).toEqual(["plain"]);
    expect(runs("")).toEqual([""]);
  });
});
