import { describe, expect, it } from "vitest";
import { argumentsOf, spelled, textArgument, unsafeNumbers } from "@/request/model/json-lines";

/** As Python spells it with `indent=2`. */
const LINES = [
  "{",
  '  "a": 12345678901234567890,',
  '  "deep": {',
  '    "a": [',
  "      1.0,",
  "      2",
  "    ]",
  "  },",
  '  "na\\"me: x": "with, comma,",',
  '  "text": "one\\n  \\"a\\": 2\\nthree"',
  "}",
];

describe("arguments", () => {
  it("are cut out of the server's spelling, digit by digit", () => {
    const found = argumentsOf(LINES);
    expect(found.map((one) => one.name)).toEqual(["a", "deep", 'na"me: x', "text"]);
    expect(found[0]?.lines).toEqual(["12345678901234567890"]);
    expect(found[1]?.lines).toEqual(["{", '  "a": [', "    1.0,", "    2", "  ]", "}"]);
    expect(found[2]?.lines).toEqual(['"with, comma,"']);
  });

  it("are shown as text where they have several lines", () => {
    const [, , plain, text] = argumentsOf(LINES);
    expect(plain?.text).toBeNull();
    expect(text?.text).toEqual(["one", '  "a": 2', "three"]);
  });

  it("may be none", () => {
    expect(argumentsOf(["{}"])).toEqual([]);
    expect(argumentsOf([])).toEqual([]);
    expect(spelled([])).toEqual(["{}"]);
  });

  it("are put together again as they were", () => {
    expect(spelled(argumentsOf(LINES))).toEqual(LINES);
  });

  it("take in the command that stands apart from them", () => {
    const lines = spelled([textArgument("command", "a\nb"), ...argumentsOf(["{", '  "cwd": "."', "}"])]);
    expect(lines).toEqual(["{", '  "command": "a\\nb",', '  "cwd": "."', "}"]);
  });
});

describe("numbers that a browser would change", () => {
  it("are found outside of texts", () => {
    expect(unsafeNumbers(LINES)).toEqual(["12345678901234567890", "1.0"]);
    expect(unsafeNumbers(['  "a": "12345678901234567890",', '  "b": -7, 1.5, 0, 0.25'])).toEqual([]);
    expect(unsafeNumbers(['  "a": 1e999'])).toEqual(["1e999"]);
  });

  it("are also those that it would only spell otherwise: a whole one is another type", () => {
    const changed = ["1.0", "1e5", "100000.0", "1e-07", "-0.0", "9007199254740993"];
    expect(unsafeNumbers([changed.join(", ")])).toEqual(changed);
  });
});
