/** What is asked, kind by kind, read from the body that the server keeps of it. */
import type { InboxRequest } from "interlock-client/inbox";
import { isObject, type JsonObject, objectOf, textOf } from "interlock-client/json";
import { unsafeNumbers } from "./json-lines";

/** The value of the option that stands for an answer in one's own words. */
const CUSTOM = "__custom__";
/** How an agent may say that one of its options is dangerous. No style makes an option more prominent. */
const RISKY = ["danger", "destructive", "critical", "warning"];

export interface Choice {
  value: string;
  label: string;
  isRisky: boolean;
}

/** Something to be answered by picking, or in one's own words. */
export interface Question {
  text: string;
  choices: Choice[];
  /** Whether other words than those offered will do. */
  takesOwn: boolean;
}

export interface Decision {
  title: string;
  description: string;
  risks: string[];
  choices: Choice[];
}

export interface Variable {
  name: string;
  label: string;
  description: string;
  isRequired: boolean;
  isSensitive: boolean;
}

/** A call that was cut short, of which nobody knows whether it took effect. */
export interface Doubt {
  tool: string;
  lines: string[];
}

export function argsOf(request: InboxRequest): JsonObject {
  return objectOf(request.body.args);
}

/** What the agent says of a call. */
export function wordsOf(request: InboxRequest): string {
  return textOf(request.body.description);
}

/** What the tool takes, as far as anybody said. */
export function schemaOf(request: InboxRequest): JsonObject | null {
  if (request.args_schema) return request.args_schema;
  return isObject(request.body.tool_schema) ? request.body.tool_schema : null;
}

/** Whether the graph did not say what it takes: any JSON will do. */
export function isFree(request: InboxRequest): boolean {
  return request.kind === "clarification" && request.body.free === true;
}

export function questionsOf(request: InboxRequest): Question[] {
  const { body } = request;
  if (request.kind === "questions") return objects(body.questions).map(question);
  if (request.kind !== "clarification") return [];
  const choices = texts(body.options).map((one) => ({ value: one, label: one, isRisky: false }));
  // Where there are details they are shown as such, and not once more in the text.
  const text = request.view.details.length > 0 ? textOf(body.title) : textOf(body.question);
  return [{ text, choices, takesOwn: body.allow_custom !== false }];
}

export function decisionOf(request: InboxRequest): Decision {
  const { body } = request;
  const choices = objects(body.options).map((one) => ({
    value: textOf(one.key),
    label: textOf(one.label) || textOf(one.key),
    isRisky: RISKY.includes(textOf(one.style).toLowerCase()),
  }));
  return { title: textOf(body.title), description: textOf(body.description), risks: texts(body.risks), choices };
}

export function variablesOf(request: InboxRequest): Variable[] {
  return objects(request.body.fields).map((one) => ({
    name: textOf(one.name),
    label: textOf(one.label),
    description: textOf(one.description),
    isRequired: one.required !== false,
    isSensitive: one.sensitive !== false,
  }));
}

export function doubtOf(request: InboxRequest): Doubt | null {
  // An agent may call its question what it likes: only the server knows which are its own.
  if (request.kind !== "decision" || !request.in_doubt) return null;
  const keys = decisionOf(request).choices.map((one) => one.value);
  if (keys.join() !== "retry,skip,done") return null;
  const described = textOf(request.body.description);
  const end = described.indexOf(" ");
  if (end < 0) return { tool: described, lines: [] };
  return { tool: described.slice(0, end), lines: readable(described.slice(end + 1)) };
}

/** Over several lines, where that changes nothing of what it says. */
function readable(json: string): string[] {
  try {
    return unsafeNumbers([json]).length > 0 ? [json] : JSON.stringify(JSON.parse(json), null, 2).split("\n");
  } catch {
    return [json];
  }
}

function question(given: JsonObject): Question {
  const offered = objects(given.options);
  const choices = offered
    .map((one) => ({ value: textOf(one.value), label: textOf(one.label) || textOf(one.value), isRisky: false }))
    .filter((one) => one.value !== CUSTOM);
  const takesOwn = offered.length === 0 || offered.some((one) => one.allow_custom === true);
  return { text: textOf(given.question), choices, takesOwn };
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
