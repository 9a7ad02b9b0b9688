import { act, renderHook } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { useSending } from "@/inbox/use-sending";
import { deliveries } from "@/request/api/deliveries";
import { call } from "./calls";
import { moment } from "./entries";

interface Sent {
  id: string;
  key: string | null;
  body: Record<string, unknown>;
}

const network = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = network;
});

/** A server that replies to each request in turn; null: the connection breaks. */
function server(...replies: (Response | null)[]): Sent[] {
  const sent: Sent[] = [];
  globalThis.fetch = async (input, init) => {
    const id = /requests\/([^/]+)\/answer/.exec(String(input))?.[1] ?? "";
    const key = new Headers(init?.headers).get("idempotency-key");
    sent.push({ id, key, body: JSON.parse(String(init?.body)) });
    const reply = replies[sent.length - 1];
    if (!reply) throw new TypeError("the connection broke");
    return reply;
  };
  return sent;
}

function done(id: string): Response {
  return Response.json({ request_id: id, status: "answered", answered_at: moment(0) });
}

test("answers go one by one, each bound to what was shown and under a key of its own", async () => {
  const late = Response.json({ detail: "late", code: "already_settled", answered_by: "li" }, { status: 409 });
  const sent = server(done("a1"), late, done("a3"));
  const { result } = renderHook(useSending);
  await act(() => result.current.send([call("a1"), call("a2"), call("a3")], "accept", () => 1_234));
  expect(sent.map((one) => one.id)).toEqual(["a1", "a2", "a3"]);
  expect(new Set(sent.map((one) => one.key)).size).toBe(3);
  expect(sent[0]?.body).toEqual({ value: { decision: "accept" }, digest: "digest-a1", dwell_ms: 1_234 });
  expect(["a1", "a2", "a3"].map((id) => deliveries.get(id)?.state)).toEqual(["done", "late", "done"]);
  expect(result.current.at).toBeNull();
});

test("of what got no reply it is asked what became of it, and the rest is left for a person to send", async () => {
  const sent = server(done("b1"), null, Response.json({ settled: null }));
  const { result } = renderHook(useSending);
  await act(() => result.current.send([call("b1"), call("b2"), call("b3")], "accept", () => 0));
  expect(sent.map((one) => one.id)).toEqual(["b1", "b2", "b2"]);
  expect(sent[1]?.key).toBe(sent[2]?.key);
  expect(["b1", "b2", "b3"].map((id) => deliveries.get(id)?.state)).toEqual(["done", "lost", undefined]);
  expect(result.current.at).toBeNull();
});

test("who leaves stops what was not sent yet", async () => {
  const sent = server(done("c1"), done("c2"));
  const { result, unmount } = renderHook(useSending);
  let sending = Promise.resolve();
  act(() => {
    sending = result.current.send([call("c1"), call("c2")], "reject", () => 0);
  });
  unmount();
  await sending;
  expect(sent.map((one) => one.id)).toEqual(["c1"]);
  expect(deliveries.get("c2")).toBeNull();
});
