/** The feed against a server that speaks HTTP, and breaks off where it is told to. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Feed } from "@/chat/feed";
import { type Action, conversed } from "@/chat/state/conversation";
import { type Conversation, EMPTY } from "@/chat/state/model";
import { shown } from "./told";

interface Opened {
  lastEventId: string | null;
  tell(id: string | null, event: string, data?: object): void;
  breakOff(): void;
}

const THREAD = "ann-1";
let streams: Opened[] = [];
let messages: { role: string; content: string }[] = [];
let feeds: Feed[] = [];

beforeEach(() => {
  streams = [];
  messages = [];
  feeds = [];
  vi.stubGlobal("fetch", answered);
});

afterEach(() => {
  for (const feed of feeds) feed.close();
  vi.unstubAllGlobals();
});

async function answered(input: string, init: RequestInit): Promise<Response> {
  const { pathname } = new URL(input);
  if (pathname.startsWith("/api/history")) return Response.json({ thread_id: THREAD, messages });
  if (pathname.startsWith("/api/status"))
    return Response.json({ thread_id: THREAD, status: "idle", interrupt_info: null });
  return opened(new Headers(init.headers).get("last-event-id"));
}

function opened(lastEventId: string | null): Response {
  const encoder = new TextEncoder();
  let to: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      to = controller;
    },
  });
  streams.push({
    lastEventId,
    tell(id, event, data = {}) {
      const text = JSON.stringify({ event, type: event, thread_id: THREAD, ...data });
      to.enqueue(encoder.encode(`${id === null ? "" : `id: ${id}\n`}event: ${event}\ndata: ${text}\n\n`));
    },
    breakOff: () => to.error(new TypeError("network error")),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** A feed, and what it has come to. */
function followed(said: string | null = null) {
  const page = {
    conversation: EMPTY as Conversation,
    isReady: false,
    isConnected: false,
  };
  const feed = new Feed(THREAD, "en", {
    act: (action: Action) => {
      page.conversation = conversed(page.conversation, action);
    },
    ready: () => {
      page.isReady = true;
    },
    connected: (isConnected) => {
      page.isConnected = isConnected;
    },
    signedIn: () => new Promise(() => {}),
    deleted: () => {},
    failed: (error) => {
      throw error;
    },
  });
  feeds.push(feed);
  feed.open(said);
  return page;
}

function soon(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 30_000 });
}

async function stream(place: number): Promise<Opened> {
  await soon(() => expect(streams.length).toBeGreaterThan(place));
  return streams[place] as Opened;
}

describe("a thread", () => {
  it("is shown when its log and its messages are there", async () => {
    messages = [
      { role: "user", content: "hello" },
      { role: "assistant", content: "Hi" },
    ];
    const page = followed();
    const log = await stream(0);
    expect(log.lastEventId).toBe("0");
    log.tell("4", "messages/partial", { content: "Hi", reset: true });
    expect(page.isReady).toBe(false);
    log.tell("5", "end");
    await soon(() => expect(page.isReady).toBe(true));
    expect(shown(page.conversation)).toEqual(["> hello", "Hi"]);
    expect(page.conversation.phase).toBe("idle");
  });

  it("is shown at once where it was begun here", async () => {
    const page = followed("hello");
    expect(page.isReady).toBe(true);
    expect(shown(page.conversation)).toEqual(["> hello"]);
    (await stream(0)).tell("3.1", "messages/partial", { content: "Hi" });
    await soon(() => expect(shown(page.conversation)).toEqual(["> hello", "Hi"]));
  });

  it("loses and doubles no token over a break, and goes on where it was", async () => {
    const page = followed("count");
    const before = await stream(0);
    before.tell("3.1", "messages/partial", { content: "1 2 " });
    before.tell("3.2", "messages/partial", { content: "3 " });
    await soon(() => expect(shown(page.conversation)).toEqual(["> count", "1 2 3 "]));
    before.breakOff();
    const after = await stream(1);
    await soon(() => expect(page.isConnected).toBe(true));
    expect(after.lastEventId).toBe("3.2");
    after.tell("3.5", "messages/partial", { content: "1 2 3 4 5 ", reset: true });
    after.tell("3.6", "messages/partial", { content: "6" });
    after.tell("5", "end");
    await soon(() => expect(page.conversation.phase).toBe("idle"));
    expect(shown(page.conversation)).toEqual(["> count", "1 2 3 4 5 6"]);
  });

  it("begins a message anew that a restarted server writes anew", async () => {
    const page = followed("count");
    const before = await stream(0);
    before.tell("3.1", "messages/partial", { content: "1 2 3" });
    before.tell(null, "error", { message: "shutting down" });
    before.tell(null, "end");
    await soon(() => expect(page.conversation.notice).toBe("shutting down"));
    before.breakOff();
    const after = await stream(1);
    after.tell("3.1", "messages/partial", { content: "1 2" });
    after.tell("3.2", "messages/partial", { content: " 3 4" });
    await soon(() => expect(shown(page.conversation)).toEqual(["> count", "1 2 3 4"]));
    expect(page.conversation).toMatchObject({ phase: "running", notice: null });
  });
});
