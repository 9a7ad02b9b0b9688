/** What a tool was called with and what it gave, in lines. */
import { isObject } from "interlock-client/json";

/** Beyond this it is folded, not cut. */
const SHORT_LINES = 8;
const SHORT_TEXT = 600;
/** So many characters of a result the server keeps. */
export const KEPT = 32_768;

export interface Argument {
  name: string;
  text: string;
}

export function argumentsOf(input: unknown): Argument[] {
  if (!isObject(input)) return input === null || input === undefined ? [] : [{ name: "", text: spelled(input) }];
  return Object.entries(input).map(([name, value]) => ({ name, text: spelled(value) }));
}

export function isLong(texts: readonly string[]): boolean {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return length > SHORT_TEXT || linesIn(texts) > SHORT_LINES;
}

export function linesIn(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.split("\n").length, 0);
}

function spelled(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}
