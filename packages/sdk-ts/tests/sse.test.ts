import { expect, test } from "vitest";
import { ServerFailed } from "../src/index.js";
import { type Frame, frames } from "../src/sse.js";
import { all, failure } from "./support/people.js";

async function* chunks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

const read = (text: string, size = 1_000): Promise<Frame[]> => all(frames(chunks(text, size)));

test.each([1, 2, 3, 1_000])("a stream is read alike in pieces of %i bytes", async (size) => {
  const text =
    'id: 1\nevent: a\ndata: {"text": "你好\\u2028"}\n\n: alive\n\nid: 2\r\ndata: {"b":\r\ndata: 1}\r\n\r\nid: 3\n\ndata: {"cut"';
  expect(await read(text, size)).toEqual([
    { event: "a", data: { text: "你好\u2028" }, text: '{"text": "你好\\u2028"}', id: "1" },
    { event: "message", data: { b: 1 }, text: '{"b":\n1}', id: "2" },
    { event: "message", data: undefined, text: "", id: "3" },
  ]);
});

test.each(["nonsense", "[1]", "null"])("what is no JSON object is an error: %s", async (data) => {
  expect(await failure(read(`data: ${data}\n\n`))).toBeInstanceOf(ServerFailed);
});
