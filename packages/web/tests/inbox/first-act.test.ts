import type { InboxEntry } from "interlock-client/inbox";
import { expect, test } from "vitest";
import type { LiveEvent } from "@/api/live";
import { after, type FirstAct } from "@/inbox/first-act/store";

const BEGUN: FirstAct = { thread: "t-1", request: null, end: null };
const ASKED: FirstAct = { ...BEGUN, request: "r-1" };

function asked(request: string, thread: string): LiveEvent {
  return { type: "asked", entry: { request_id: request, conversation_id: thread } as InboxEntry };
}

function settled(request: string, status: "answered" | "cancelled" | "expired"): LiveEvent {
  const nobody = { answered_by: null, answered_at: "", source: null, value: null };
  return { type: "settled", settled: { request_id: request, conversation_id: "t-1", status, ...nobody } };
}

test("the first thing that its own agent asks is its request", () => {
  expect(after(BEGUN, asked("r-1", "t-1"))).toEqual(ASKED);
  expect(after(BEGUN, asked("r-2", "t-2"))).toBe(BEGUN);
  expect(after(ASKED, asked("r-3", "t-1"))).toBe(ASKED);
});

test("it ends with its request, and with its conversation", () => {
  expect(after(ASKED, settled("r-1", "answered"))).toEqual({ ...ASKED, end: "answered" });
  expect(after(ASKED, settled("r-1", "expired"))).toEqual({ ...ASKED, end: "ended" });
  expect(after(ASKED, settled("r-2", "answered"))).toBe(ASKED);
  expect(after(ASKED, { type: "deleted", conversationId: "t-1" })).toBeNull();
});
