import { describe, expect, test } from "vitest";
import { type ChatEvent, InvalidInput, NothingPending, ThreadBusy } from "../src/index.js";
import { all, failure, next, someone } from "./support/people.js";

const types = (events: ChatEvent[]) => [...new Set(events.map((event) => event.type))];
const text = (events: ChatEvent[]) =>
  events.map((event) => (event.type === "messages/partial" ? event.content : "")).join("");

describe("a hosted agent", () => {
  test("talks", async () => {
    const ann = someone({ locale: "en" });
    const events = await all(ann.chat("hello"));
    expect(types(events)).toEqual(["messages/partial", "end"]);
    expect(text(events)).toContain("demo agent");
    const threadId = events[0]?.type === "messages/partial" ? events[0].thread_id : "";
    const history = await ann.history(threadId);
    expect(history.map((message) => message.role)).toEqual(["user", "assistant"]);
    expect(history[1]?.content).toBe(text(events));
    expect(await ann.status(threadId)).toMatchObject({ status: "idle", has_pending_tasks: false, message_count: 2 });
  });

  test("waits for a person, is told to go on, and does", async () => {
    const ann = someone({ locale: "en" });
    const threadId = await ann.createThread();
    const paused = await all(ann.chat("create hello.py", { threadId }));
    const interrupt = paused.find((event) => event.type === "interrupt");
    expect(interrupt?.requests[0]).toMatchObject({ kind: "approval" });
    const status = await ann.status(threadId);
    expect(status.interrupt_info?.requests[0]?.request_id).toBe(interrupt?.requests[0]?.request_id);
    const busy = (await failure(all(ann.chat("and now?", { threadId })))) as ThreadBusy;
    expect(busy).toBeInstanceOf(ThreadBusy);
    const done = await all(ann.resume(threadId, "continue", { requestId: interrupt?.requests[0]?.request_id }));
    expect(types(done)).toEqual(expect.arrayContaining(["tool/start", "tool/end", "end"]));
    expect(done.find((event) => event.type === "tool/end")).toMatchObject({ tool: "write_file", status: "success" });
    expect(done.at(-1)).toMatchObject({ type: "end", action: "continue" });
    expect(await failure(all(ann.resume(threadId, "continue")))).toBeInstanceOf(NothingPending);
  });

  test("takes answers, and keeps waiting after those that do not fit", async () => {
    const ann = someone({ locale: "en" });
    const paused = await all(ann.chat("ask me three questions"));
    const interrupt = paused.find((event) => event.type === "interrupt");
    const threadId = String(interrupt?.thread_id);
    const refused = await all(ann.resume(threadId, "answer", { answers: ["only one"] }));
    expect(types(refused)).toEqual(["error", "end"]);
    expect(refused.at(-1)).toMatchObject({ action: "error" });
    expect(await failure(all(ann.resume(threadId, "answer", { answers: [] })))).toBeInstanceOf(InvalidInput);
    const questions = interrupt?.requests[0]?.questions ?? [];
    const answers = questions.map((one) => one.options[0]?.value ?? "mine");
    const done = await all(ann.resume(threadId, "answer", { answers }));
    expect(done.at(-1)).toMatchObject({ type: "end", action: "answer" });
  });

  test("is told that it may not, and why", async () => {
    const ann = someone({ locale: "en" });
    const paused = await all(ann.chat("create nothing.py"));
    const threadId = String(paused.find((event) => event.type === "interrupt")?.thread_id);
    const done = await all(ann.resume(threadId, "cancel", { reason: "not today", detached: true }));
    expect(done.find((event) => event.type === "tool/end")).toMatchObject({ status: "refused" });
    expect((await ann.status(threadId)).status).toBe("idle");
  });

  test("is followed by others", async () => {
    const ann = someone({ locale: "en" });
    const threadId = await ann.createThread("demo");
    const events = ann.followThread(threadId, { lastEventId: "0" });
    const told = all(ann.chat("hello", { threadId }));
    const seen: ChatEvent[] = [];
    while (seen.at(-1)?.type !== "end") seen.push(await next(events));
    await events.return(undefined);
    expect(text(seen)).toBe(text(await told));
  });

  test("has threads that are listed over their pages, and deleted", async () => {
    const ann = someone();
    const made = [await ann.createThread(), await ann.createThread(), await ann.createThread()];
    const listed = await all(ann.threads({ pageSize: 2 }));
    expect(listed.map((one) => one.thread_id).sort()).toEqual([...made].sort());
    await ann.deleteThread(String(made[0]));
    expect(await all(ann.threads())).toHaveLength(2);
    expect(await failure(ann.status(String(made[0])))).toMatchObject({ status: 403 });
  });

  test("is left when the caller says so", async () => {
    const ann = someone();
    const stop = new AbortController();
    const events = ann.chat("create hello.py", { signal: stop.signal });
    await next(events);
    stop.abort(new Error("enough"));
    expect(await failure(all(events))).toMatchObject({ message: "enough" });
    expect(await failure(ann.status("x", { signal: AbortSignal.abort(new Error("before")) }))).toMatchObject({
      message: "before",
    });
  });
});
