import { describe, expect, it } from "vitest";
import { having, piece, shown, start, told } from "./told";

const RESUMED = { type: "connected" } as const;

describe("the agent's text", () => {
  it("grows by tokens", () => {
    expect(shown(having(told(piece("3.1", "Hel"), piece("3.2", "lo"))))).toEqual(["> ?", "Hello"]);
  });

  it("is replaced by all of it so far", () => {
    expect(
      shown(having(told(piece("3.1", "Hel")), RESUMED, told(piece("3.3", "Hello", true), piece("3.4", "!")))),
    ).toEqual(["> ?", "Hello!"]);
  });

  it("is replaced by the finished message after a break", () => {
    expect(shown(having(told(piece("3.1", "Hel")), RESUMED, told(piece("4", "Hello!", true))))).toEqual([
      "> ?",
      "Hello!",
    ]);
  });

  it("begins anew when a server that was restarted writes it anew", () => {
    expect(
      shown(
        having(
          told(piece("3.1", "Hel"), piece("3.2", "lo")),
          RESUMED,
          told(piece("3.1", "Good "), piece("3.2", "day")),
        ),
      ),
    ).toEqual(["> ?", "Good day"]);
  });

  it("begins anew when its tokens are counted anew", () => {
    expect(
      shown(having(told(piece("3.1", "Hel"), piece("3.2", "lo"), piece("3.1", "Good "), piece("3.2", "day")))),
    ).toEqual(["> ?", "Good day"]);
  });

  it("keeps two messages apart that were told by tokens to their ends", () => {
    const two = [piece("3.1", "One."), piece("4.1", "Two")];
    expect(shown(having(told(...two, piece("4.2", "."))))).toEqual(["> ?", "One.", "Two."]);
    expect(shown(having(told(...two), RESUMED, told(piece("4.2", "Two.", true))))).toEqual(["> ?", "One.", "Two."]);
  });

  it("puts a message together that was told across an entry of the log", () => {
    expect(
      shown(having(told(piece("3.1", "Hel"), piece("4.1", "lo")), RESUMED, told(piece("4.2", "Hello!", true)))),
    ).toEqual(["> ?", "Hello!"]);
  });

  it("sorts out two messages whose tokens ran into each other", () => {
    const mixed = [
      piece("3.1", "One."),
      piece("3.2", "Tw"),
      piece("4", "One.", true),
      piece("4.1", "o."),
      piece("5", "Two.", true),
    ];
    expect(shown(having(told(...mixed)))).toEqual(["> ?", "One.", "Two."]);
  });

  it("stays where it was when its entry comes late", () => {
    const late = [piece("3.1", "One."), start("5", "ls", "c1")];
    expect(shown(having(told(...late), RESUMED, told(piece("6", "One.", true))))).toEqual([
      "> ?",
      "One.",
      "ls(c1) running",
    ]);
  });

  it("is never merged with a finished message before it", () => {
    expect(shown(having(told(piece("4", "Hi", true), piece("5", "Hi there", true))))).toEqual([
      "> ?",
      "Hi",
      "Hi there",
    ]);
  });
});
