import { expect, test } from "vitest";
import { visible } from "../src/index.js";

test.each([
  ["\x1b[31mred\x07", "\\x1b[31mred\\x07"],
  ["safe\u202etxt.exe", "safe\\u202etxt.exe"],
  ["rm\u200b -rf\u2066", "rm\\u200b -rf\\u2066"],
  ["tag\u{e0041}", "tag\\U000e0041"],
  ["a\u00a0b\u3164c\u2800", "a\\xa0b\\u3164c\\u2800"],
  ["line\u2028break\r", "line\\u2028break\\x0d"],
  ["half\ud83d", "half\\ud83d"],
  ["chosen\ufe0f\u{e0100}", "chosen\\ufe0f\\U000e0100"],
  ["new\nline\ttab", "new\nline\\x09tab"],
])("what hides or reorders is written out: %j", (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test("what people write is left as it is", () => {
  const text = "删除　文件 «naïve» 🎉 x² → end\n";
  expect(visible(text)).toBe(text);
  expect(visible("a\nb", "")).toBe("a\\x0ab");
});
