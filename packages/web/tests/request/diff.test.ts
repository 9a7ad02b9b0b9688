import { describe, expect, it } from "vitest";
import { type DiffRow, difference } from "@/request/model/diff";

const text = (...lines: string[]) => `${lines.join("\n")}\n`;
const numbered = (count: number) => Array.from({ length: count }, (_, place) => `line ${place + 1}`);
const spelled = (rows: DiffRow[]) =>
  rows.map((row) => `${row.number}${{ same: " ", added: "+", removed: "-" }[row.type]}${row.text}`);

describe("a difference", () => {
  it("numbers removed lines as they are, and all others as they would be", () => {
    const { sections, added, removed } = difference(text("a", "b", "c"), text("a", "B", "x", "c"));
    expect([added, removed]).toEqual([2, 1]);
    expect(sections).toHaveLength(1);
    expect(spelled(sections[0]?.rows ?? [])).toEqual(["1 a", "2-b", "2+B", "3+x", "4 c"]);
  });

  it("folds what does not change, and leaves three lines around what does", () => {
    const lines = numbered(100);
    const { sections } = difference(text(...lines), text(...lines.with(49, "other")));
    expect(sections.map((section) => [section.type, section.rows.length])).toEqual([
      ["folded", 46],
      ["rows", 8],
      ["folded", 47],
    ]);
  });

  it("leaves nothing out", () => {
    const lines = numbered(50);
    const { sections } = difference(text(...lines), text(...lines.with(3, "x").with(40, "y")));
    const after = sections.flatMap((section) => section.rows).filter((row) => row.type !== "removed");
    expect(after.map((row) => row.text)).toEqual(lines.with(3, "x").with(40, "y"));
  });

  it("is all added for a new file, and nothing for the same one", () => {
    expect(difference("", text("a", "b"))).toMatchObject({ added: 2, removed: 0 });
    expect(difference(text("a"), text("a"))).toMatchObject({ added: 0, removed: 0 });
    expect(difference("", "")).toEqual({ sections: [], added: 0, removed: 0 });
  });

  it("shows a line break at the end that comes or goes", () => {
    expect(difference("a", "a\n")).toMatchObject({ added: 1, removed: 0 });
    expect(difference("a\n", "a")).toMatchObject({ added: 0, removed: 1 });
  });

  it("does not let empty lines push the rest out of sight", () => {
    const { sections, added } = difference("", text("a", ...Array<string>(40).fill(""), "b"));
    expect(added).toBe(42);
    expect(sections[0]?.rows.map((row) => [row.number, row.blank ?? row.text])).toEqual([
      [1, "a"],
      [2, 40],
      [42, "b"],
    ]);
  });

  it("gives up on the smallest difference of large files that have nothing in common", () => {
    const old = Array.from({ length: 20_000 }, (_, place) => `old ${place}`);
    const fresh = Array.from({ length: 20_000 }, (_, place) => `new ${place}`);
    expect(difference(text(...old), text(...fresh))).toMatchObject({ added: 20_000, removed: 20_000 });
  });
});
