/** What an edit changes, argument by argument. */
import { isObject } from "interlock-client/json";
import { type DiffRow, diffRows } from "../model/diff";
import { under } from "./paths";

export interface Change {
  path: string;
  rows: DiffRow[];
}

export function changesOf(before: unknown, after: unknown, path = ""): Change[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    // The same things in another order are no change.
    return names.flatMap((name) => changesOf(before[name], after[name], under(path, name)));
  }
  return [{ path, rows: changedRows(before, after) }];
}

function changedRows(before: unknown, after: unknown): DiffRow[] {
  const areTexts = typeof before === "string" && typeof after === "string";
  if (areTexts && (before.includes("\n") || after.includes("\n")))
    return diffRows(before.split("\n"), after.split("\n"));
  return diffRows(spelled(before), spelled(after));
}

/** What is not there has no lines. */
function spelled(value: unknown): string[] {
  return value === undefined ? [] : JSON.stringify(value, null, 2).split("\n");
}
