/** Answers to what a graph asked without saying what it takes: the person chooses what the graph gets. */
import type { JsonObject } from "interlock-client/json";
import { parsed } from "interlock-client/json";
import { unsafeNumbers } from "./json-lines";

export const WAYS = ["yes", "no", "text", "json"] as const;
export type Way = (typeof WAYS)[number];

/** As it is written so far; what was typed for another way stays. */
export interface Free {
  /** Null: an option, or nothing yet. */
  way: Way | null;
  option: string | null;
  text: string;
  json: string;
}

export const NOTHING: Free = { way: null, option: null, text: "", json: "" };

export type Chosen =
  /** `sent` is for the server, which refuses a bare text that reads as a refusal. */
  { state: "chosen"; sent: unknown; spelled: string } | { state: "missing" | "noJson" | "unsafe" };

export function chosen(free: Free): Chosen {
  switch (free.way) {
    case "yes":
    case "no":
      return { state: "chosen", sent: free.way === "yes", spelled: String(free.way === "yes") };
    case "text":
      return free.text.trim() ? text(free.text) : { state: "missing" };
    case "json":
      return free.json.trim() ? json(free.json) : { state: "missing" };
    case null:
      return free.option === null ? { state: "missing" } : text(free.option);
  }
}

function text(words: string): Chosen {
  return { state: "chosen", sent: words, spelled: JSON.stringify(words) };
}

function json(typed: string): Chosen {
  const value = parsed(typed);
  if (value === undefined) return { state: "noJson" };
  // What the page would send is not what was typed.
  if (unsafeNumbers([typed]).length > 0) return { state: "unsafe" };
  return { state: "chosen", sent: { json: value }, spelled: JSON.stringify(value) };
}

export function freeValue(free: Free): JsonObject {
  const found = chosen(free);
  return found.state === "chosen" ? { answer: found.sent } : {};
}
