/** Server-sent events, as they come in. */
import { ServerFailed } from "./errors.js";
import { isObject, type JsonObject, parsed } from "./json.js";

export interface Frame {
  event: string;
  /** Undefined: the frame only says from where to go on. */
  data: JsonObject | undefined;
  /** The data as it was written. */
  text: string;
  id: string | undefined;
}

/** The frames of a stream; comments, which are signs of life, are left out. A frame that was cut off is not told. */
export async function* frames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let fields = new Map<string, string>();
  for await (const line of lines(chunks)) {
    if (line === "") {
      if (fields.has("data") || fields.has("id")) yield frameOf(fields);
      fields = new Map();
    } else if (!line.startsWith(":")) {
      take(line, fields);
    }
  }
}

async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const pieces = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = pieces.pop() ?? "";
    for (const piece of pieces) yield piece.endsWith("\r") ? piece.slice(0, -1) : piece;
  }
}

function take(line: string, fields: Map<string, string>): void {
  const colon = line.indexOf(":");
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  const before = name === "data" ? fields.get(name) : undefined;
  fields.set(name, before === undefined ? value : `${before}\n${value}`);
}

function frameOf(fields: Map<string, string>): Frame {
  const text = fields.get("data");
  const data = text === undefined ? undefined : parsed(text);
  if (text !== undefined && !isObject(data)) throw new ServerFailed("the stream holds an event that is no JSON object");
  return { event: fields.get("event") ?? "message", data: data as JsonObject, text: text ?? "", id: fields.get("id") };
}
