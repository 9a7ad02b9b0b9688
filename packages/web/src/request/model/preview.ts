/** What a call would do, as its tool says; read from the body that the server keeps of it. */
import type { InboxRequest } from "interlock-client/inbox";
import { isObject, textOf } from "interlock-client/json";
import { hasDifference } from "./looks";

export type Preview =
  | { type: "lines"; lines: string[]; leftOut: number }
  | { type: "table"; columns: string[]; rows: string[][]; leftOut: number }
  | { type: "none"; reason: string };

/** Null: there is nothing to show, or the file itself shows it all. */
export function previewOf(request: InboxRequest): Preview | null {
  const found = request.body.preview;
  if (!isObject(found) || (request.view.type === "file" && hasDifference(request))) return null;
  if (isDeletion(request)) return null;
  const leftOut = typeof found.left_out === "number" ? found.left_out : 0;
  if (found.type === "none") return { type: "none", reason: textOf(found.reason) };
  if (found.type === "table") {
    return { type: "table", columns: texts(found.columns), rows: list(found.rows).map(texts), leftOut };
  }
  const lines = texts(found.lines);
  return lines.length > 0 ? { type: "lines", lines, leftOut } : null;
}

/** Of a file that is shown as it is: what would go is all of it. */
export function isDeletion({ file, body: { preview } }: InboxRequest): boolean {
  if (!file || !isObject(preview) || preview.type !== "diff" || preview.path !== file.path) return false;
  return file.text !== null && list(preview.lines)[1] === "+++ /dev/null";
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function texts(value: unknown): string[] {
  return list(value).map((one) => String(one));
}
