import { describe, expect, it } from "vitest";
import { arranged } from "@/chat/state/arranged";
import { type Conversation, lastTurn, toolsUnderWay } from "@/chat/state/model";
import {
  approval,
  asks,
  end,
  failure,
  finish,
  having,
  history,
  piece,
  request,
  shown,
  start,
  told,
  toldAt,
} from "./told";

describe("a turn", () => {
  it("is begun by this page's message, and ends with its run", () => {
    const running = having({ type: "said", text: "hello" });
    expect(running.phase).toBe("running");
    expect(lastTurn(running)?.sent).toBe("sending");
    const over = having(
      { type: "said", text: "hello" },
      { type: "sent" },
      told(piece("3.1", "Hi"), piece("3.2", "!"), end("5")),
    );
    expect(shown(over)).toEqual(["> hello", "Hi!"]);
    expect(over.phase).toBe("idle");
    expect(lastTurn(over)?.sent).toBe("sent");
  });

  it("that another page began is there before its message is known", () => {
    const over = having(told(piece("4", "Hi!", true), end("5")));
    expect(shown(over)).toEqual(["> ?", "Hi!"]);
    expect(
      shown(having(told(piece("4", "Hi!", true), end("5")), history(["user", "hello"], ["assistant", "Hi!"]))),
    ).toEqual(["> hello", "Hi!"]);
  });

  it("is taken back when the server did not take its message", () => {
    const first = [{ type: "said", text: "one" }, { type: "sent" }, told(piece("3.1", "1"), end("4"))] as const;
    const refused = having(...first, { type: "said", text: "two" }, { type: "notSent" });
    expect(shown(refused)).toEqual(["> one", "1"]);
    expect(refused.phase).toBe("idle");
  });

  it("keeps what came of another's message when this page's was not taken", () => {
    const refused = having({ type: "said", text: "mine" }, told(piece("3.1", "Hi")), { type: "notSent" });
    expect(shown(refused)).toEqual(["> ?", "Hi"]);
    expect(refused.phase).toBe("running");
  });

  it("that nothing came of has ended too", () => {
    const over = having(told(piece("4", "Hi!", true), end("5"), end("8")));
    expect(shown(over)).toEqual(["> ?", "Hi!", "> ?"]);
    expect(over.phase).toBe("idle");
  });
});

describe("a failure", () => {
  it("is told with the end of its run", () => {
    const failed = having(
      { type: "said", text: "go" },
      told(start("4", "read_file", "c1"), failure("no model"), end("6")),
    );
    expect(shown(failed)).toEqual(["> go", "read_file(c1) unfinished", "! no model"]);
    expect(failed.phase).toBe("idle");
  });

  it("goes on in the same turn when it is continued here", () => {
    const failed = having({ type: "said", text: "go" }, told(failure("no model"), end("6")), { type: "continued" });
    expect(failed.phase).toBe("running");
    const more = having(
      { type: "said", text: "go" },
      told(failure("no model"), end("6")),
      { type: "continued" },
      told(piece("8", "Done", true), end("9")),
    );
    expect(shown(more)).toEqual(["> go", "! no model", "Done"]);
  });

  it("of the stream is none of the run", () => {
    const before = having({ type: "said", text: "go" }, told(piece("3.1", "Hel"), failure("shutting down"), end()));
    expect(shown(before)).toEqual(["> go", "Hel"]);
    expect(before.phase).toBe("running");
    expect(before.notice).toBe("shutting down");
    expect(
      having({ type: "said", text: "go" }, told(failure("shutting down"), end()), { type: "connected" }).notice,
    ).toBeNull();
  });

  it("that is told again after a break is told once", () => {
    const failed = having(
      { type: "said", text: "go" },
      told(failure("no model")),
      { type: "connected" },
      told(failure("no model"), end("6")),
    );
    expect(shown(failed)).toEqual(["> go", "! no model"]);
  });
});

describe("a tool", () => {
  it("shows what it was called with, what it gave, and how long it took", () => {
    const input = { path: "a" };
    const done = having(
      { type: "said", text: "go" },
      toldAt(1_000, start("4", "read_file", "c1", input)),
      toldAt(1_250, finish("5", "read_file", "c1", "text")),
    );
    expect(lastTurn(done)?.items[0]).toMatchObject({ input, output: "text", state: "done", took: 250 });
  });

  it("is one card when it is told to start twice, and two when it had ended", () => {
    expect(shown(having(told(start("4", "ls", "c1"), start("6", "ls", "c1"), finish("7", "ls", "c1"))))).toEqual([
      "> ?",
      "ls(c1) done",
    ]);
    expect(shown(having(told(start("4", "ls", "c1"), finish("5", "ls", "c1"), start("6", "ls", "c1"))))).toEqual([
      "> ?",
      "ls(c1) done",
      "ls(c1) running",
    ]);
  });

  it("under way is what a stop waits for", () => {
    const stopping = having(told(start("4", "ls", "c1"), start("5", "execute", "c2"), finish("6", "ls", "c1")), {
      type: "stopping",
    });
    expect(toolsUnderWay(stopping).map((tool) => tool.name)).toEqual(["execute"]);
    expect(stopping.isStopping).toBe(true);
    const stopped = having(
      told(start("5", "execute", "c2")),
      { type: "stopping" },
      told(finish("6", "execute", "c2"), end("7")),
    );
    expect(lastTurn(stopped)?.isStopped).toBe(true);
    expect(stopped.isStopping).toBe(false);
  });

  it("that a standing refusal ended has a card as well", () => {
    expect(shown(having(told(finish("4", "execute", "c1", "no", "refused"))))).toEqual(["> ?", "execute(c1) refused"]);
  });
});

describe("a pause", () => {
  const pause = [asks("5", approval("perm_1", "c1"), approval("perm_2", "c2")), end("6")] as const;

  it("waits for every request of it", () => {
    const waiting = having({ type: "said", text: "go" }, told(...pause));
    expect(shown(waiting)).toEqual(["> go", "write_file(c1) waiting", "write_file(c2) waiting", "[perm_1, perm_2]"]);
    expect(waiting).toMatchObject({ phase: "waiting", open: ["perm_1", "perm_2"] });
    const half = having({ type: "said", text: "go" }, told(...pause), { type: "settled", requestId: "perm_1" });
    expect(half).toMatchObject({ phase: "waiting", open: ["perm_2"] });
    expect(shown(half)[1]).toBe("write_file(c1) answered");
    const answered = having(
      { type: "said", text: "go" },
      told(...pause),
      { type: "settled", requestId: "perm_1" },
      { type: "settled", requestId: "perm_2" },
    );
    expect(answered).toMatchObject({ phase: "running", open: [], isOutside: false });
  });

  it("goes on in the same cards", () => {
    const on = having(
      told(
        ...pause,
        finish("7", "write_file", "c1", "no", "refused"),
        start("9", "write_file", "c2"),
        finish("10", "write_file", "c2"),
      ),
    );
    expect(shown(on)).toEqual(["> ?", "write_file(c1) refused", "write_file(c2) done", "[perm_1, perm_2]"]);
    expect(on).toMatchObject({ phase: "running", open: [] });
  });

  it("marks the tool that asks, also where it is no approval", () => {
    const asking = having(
      told(start("4", "ask_user", "c1"), asks("5", request("ques_1", "questions", "c1")), end("6")),
    );
    expect(shown(asking)).toEqual(["> ?", "ask_user(c1) waiting", "[ques_1]"]);
    const unnamed = having(
      told(start("4", "ask_user", "c1"), asks("5", request("ques_1", "questions", null)), end("6")),
    );
    expect(shown(unnamed)).toEqual(["> ?", "ask_user(c1) waiting", "[ques_1]"]);
    const bare = having(told(asks("5", request("clar_1", "clarification", null)), end("6")));
    expect(shown(bare)).toEqual(["> ?", "[clar_1]"]);
  });

  it("that follows another is the one that waits", () => {
    const second = having(told(...pause, asks("9", approval("perm_3", "c3")), end("10")));
    expect(second).toMatchObject({ phase: "waiting", open: ["perm_3"] });
  });

  it("that was answered elsewhere meanwhile does not wait", () => {
    const answered = having(told(...pause), { type: "gone", requestIds: ["perm_1", "perm_2"] });
    expect(answered).toMatchObject({ phase: "running", open: [] });
    expect(having(told(...pause), { type: "gone", requestIds: ["perm_1"] })).toMatchObject({
      phase: "waiting",
      open: ["perm_2"],
    });
  });

  it("that is stopped is over, and a late word of it changes nothing", () => {
    const stopped = having(
      told(...pause),
      { type: "stopping" },
      told(finish("7", "write_file", "c1", "", "refused"), end("9")),
      { type: "settled", requestId: "perm_2" },
    );
    expect(stopped).toMatchObject({ phase: "idle", open: [] });
    expect(shown(stopped)).toEqual(["> ?", "write_file(c1) refused", "write_file(c2) unfinished", "[perm_1, perm_2]"]);
  });

  it("of an agent that runs elsewhere has no run to go on with", () => {
    const asked = having(told(asks("2", approval("perm_1", null)), asks("3", approval("perm_2", null))), {
      type: "gone",
      requestIds: [],
    });
    expect(asked).toMatchObject({ isOutside: true, phase: "waiting", open: ["perm_1", "perm_2"] });
    const answered = having(told(asks("2", approval("perm_1", null))), { type: "settled", requestId: "perm_1" });
    expect(answered).toMatchObject({ isOutside: true, phase: "idle" });
  });

  it("whose answers come before the end of its run is told goes on", () => {
    const early = having(
      told(asks("5", approval("perm_1", "c1"))),
      { type: "settled", requestId: "perm_1" },
      told(end("6")),
    );
    expect(early).toMatchObject({ isOutside: false, phase: "running" });
  });

  it("that was answered before what was asked is told does not wait for it", () => {
    const half = having({ type: "settled", requestId: "perm_1" }, told(...pause));
    expect(half).toMatchObject({ phase: "waiting", open: ["perm_2"] });
    expect(shown(half)[1]).toBe("write_file(c1) answered");
    const whole = having(
      ...["perm_1", "perm_2"].map((requestId) => ({ type: "settled", requestId }) as const),
      told(...pause),
    );
    expect(whole).toMatchObject({ phase: "running", open: [], isOutside: false });
    const outside = having({ type: "settled", requestId: "perm_1" }, told(asks("2", approval("perm_1", null))));
    expect(outside).toMatchObject({ phase: "idle", open: [], isOutside: true });
  });
});

describe("what is asked", () => {
  const loose = (id: string) => request(id, "clarification", null);
  const placed = (conversation: Conversation) =>
    arranged(conversation.turns[0]?.items ?? []).map(({ item, asked }) => [
      item.type === "tool" ? item.callId : item.type,
      ...asked.map((one) => one.id),
      ...(item.type === "pause" ? item.asked.map((one) => one.id) : []),
    ]);

  it("stands under the call that it is about, and by itself where there is none", () => {
    const requests = [approval("perm_1", "c1"), approval("perm_2", "c2"), loose("clar_1")];
    const asked = having(
      told(start("3", "ls", "c0"), finish("4", "ls", "c0", "a.txt"), asks("5", ...requests), end("6")),
    );
    expect(placed(asked)).toEqual([["c0"], ["c1", "perm_1"], ["c2", "perm_2"], ["pause", "clar_1"]]);
  });

  it("stands before the result of the call that asked", () => {
    const begun = told(start("3", "ls", "c0"), start("4", "ask_user", "c1"), start("5", "ask_user", "c2"));
    const ended = finish("6", "ls", "c0", "a.txt");
    const both = having(begun, told(ended, asks("7", loose("clar_1"), loose("clar_2")), end("8")));
    expect(placed(both)).toEqual([["c0"], ["c1", "clar_1"], ["c2", "clar_2"], ["pause"]]);
    const first = having(begun, told(ended, asks("7", loose("clar_1")), end("8")));
    expect(placed(first)).toEqual([["c0"], ["c1", "clar_1"], ["c2"], ["pause"]]);
    expect(shown(first)).toEqual(["> ?", "ls(c0) done", "ask_user(c1) waiting", "ask_user(c2) queued", "[clar_1]"]);
  });
});
