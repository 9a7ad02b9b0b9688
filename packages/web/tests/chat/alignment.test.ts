import { describe, expect, it } from "vitest";
import { approval, asks, end, failure, finish, having, history, piece, shown, start, told } from "./told";

const FIRST = [piece("4", "Hi", true), end("5")];

describe("messages and turns", () => {
  it("are laid side by side", () => {
    const second = [
      piece("8", "Look", true),
      start("9", "ls", "c1"),
      finish("10", "ls", "c1", "a"),
      piece("11", "a", true),
      end("12"),
    ];
    const said = history(
      ["user", "hello"],
      ["assistant", "Hi"],
      ["user", "list"],
      ["assistant", "Look"],
      ["tool", "a"],
      ["assistant", "a"],
    );
    expect(shown(having(told(...FIRST, ...second), said))).toEqual([
      "> hello",
      "Hi",
      "> list",
      "Look",
      "ls(c1) done",
      "a",
    ]);
  });

  it("show a message that nothing came of yet, and that the agent works on it", () => {
    const said = having(told(...FIRST), history(["user", "hello"], ["assistant", "Hi"], ["user", "list"]));
    expect(shown(said)).toEqual(["> hello", "Hi", "> list"]);
    expect(said.phase).toBe("running");
    expect(shown(having(history(["user", "hello"])))).toEqual(["> hello"]);
  });

  it("show what was said before the log begins", () => {
    const old = history(
      ["system", "Be kind"],
      ["user", "old"],
      ["assistant", "Old"],
      ["user", "hello"],
      ["assistant", "Hi"],
    );
    expect(shown(having(told(...FIRST), old))).toEqual([
      "system: Be kind",
      "user: old",
      "assistant: Old",
      "> hello",
      "Hi",
    ]);
  });

  it("keep a message of this page that the history does not hold yet", () => {
    const said = having(
      told(...FIRST),
      { type: "said", text: "list" },
      history(["user", "hello"], ["assistant", "Hi"]),
    );
    expect(shown(said)).toEqual(["> hello", "Hi", "> list"]);
    expect(shown(having({ type: "opened", said: "hello" }, history()))).toEqual(["> hello"]);
    expect(
      shown(having({ type: "opened", said: "hello" }, told(...FIRST), history(["user", "hello"], ["assistant", "Hi"]))),
    ).toEqual(["> hello", "Hi"]);
  });

  it("are not doubled where the history spells a message otherwise", () => {
    const said = having(
      { type: "said", text: "hello" },
      { type: "sent" },
      told(...FIRST),
      history(["user", "hello (edited)"], ["assistant", "Hi"]),
    );
    expect(shown(said)).toEqual(["> hello", "Hi"]);
  });

  it("take a failed run that was tried again for one turn", () => {
    const pause = [piece("4", "Writing", true), asks("5", approval("perm_1", "c1")), end("6")];
    const failed = [failure("no model"), end("9")];
    const again = [
      start("11", "write_file", "c1"),
      finish("12", "write_file", "c1"),
      piece("13", "Done", true),
      end("14"),
    ];
    const said = history(["user", "go"], ["assistant", "Writing"], ["tool", "ok"], ["assistant", "Done"]);
    const one = having(told(...pause, ...failed, ...again), said);
    expect(shown(one)).toEqual([
      "> go",
      "Writing",
      "write_file(c1) unfinished",
      "[perm_1]",
      "! no model",
      "write_file(c1) done",
      "Done",
    ]);
    const more = having(
      told(...FIRST, ...pause, ...failed, ...again),
      history(["user", "hello"], ["assistant", "Hi"], ["user", "go"], ["assistant", "Writing"], ["assistant", "Done"]),
    );
    expect(shown(more).filter((line) => line.startsWith(">"))).toEqual(["> hello", "> go"]);
  });

  it("take a failed run that another message followed for two", () => {
    const two = having(
      told(failure("no model"), end("4"), piece("7", "Hi", true), end("8")),
      history(["user", "one"], ["user", "two"], ["assistant", "Hi"]),
    );
    expect(shown(two)).toEqual(["> one", "! no model", "> two", "Hi"]);
  });

  it("show the message after a failure that nothing came of yet", () => {
    const said = having(
      told(piece("3", "Trying", true), failure("no model"), end("4")),
      history(["user", "one"], ["assistant", "Trying"], ["user", "two"]),
    );
    expect(shown(said)).toEqual(["> one", "Trying", "! no model", "> two"]);
  });
});
