/** What is asked and is no approval, as a form of a few fields. */
import { isObject, type JsonObject, textOf } from "../json.js";
import type { ConfirmationRequest } from "./confirmations.js";

/** The value of the option that stands for an answer in one's own words. */
const CUSTOM = "__custom__";

export interface Option {
  value: string;
  label: string;
}

export interface Field {
  name: string;
  label: string;
  options: Option[];
  allowCustom: boolean;
  required: boolean;
  secret: boolean;
}

/** For what takes any JSON: these two are no texts, unless the graph offers them as such. */
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false };

interface Form {
  fields(body: JsonObject): Field[];
  response(fields: Field[], values: string[]): JsonObject;
}

/** Nothing for an approval, and for a kind that this version does not know. */
export function fieldsOf(request: ConfirmationRequest): Field[] {
  return FORMS[request.kind]?.fields(request.request) ?? [];
}

/** The answer, as the hitl face takes it; values are in the order of the fields. */
export function responseOf(request: ConfirmationRequest, values: string[]): JsonObject {
  const { free, options } = request.request;
  const word = values[0] ?? "";
  if (request.kind === "clarification" && free === true && word in BOOLEANS && !texts(options).includes(word))
    return { answer: BOOLEANS[word] };
  return FORMS[request.kind]?.response(fieldsOf(request), values) ?? {};
}

function field(name: string, label: string, more: Partial<Field> = {}): Field {
  return { name, label, options: [], allowCustom: true, required: true, secret: false, ...more };
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function offered(body: JsonObject): string[] {
  const options = texts(body.options);
  return body.free === true ? [...new Set([...options, ...Object.keys(BOOLEANS)])] : options;
}

function questionField(question: JsonObject, place: number): Field {
  const offered = objects(question.options);
  const options = offered
    .map((one) => ({ value: textOf(one.value), label: textOf(one.label) || textOf(one.value) }))
    .filter((one) => one.value !== CUSTOM);
  const allowCustom = offered.length === 0 || offered.some((one) => one.allow_custom === true);
  return field(String(place), textOf(question.question), { options, allowCustom });
}

function decisionLabel(body: JsonObject): string {
  const lines = [textOf(body.title), textOf(body.description), ...texts(body.risks).map((risk) => `! ${risk}`)];
  return lines.filter(Boolean).join("\n");
}

const FORMS: Readonly<Record<string, Form>> = {
  clarification: {
    fields: (body) => [
      field("answer", textOf(body.question), {
        options: offered(body).map((one) => ({ value: one, label: one })),
        allowCustom: body.allow_custom !== false,
      }),
    ],
    response: (_fields, values) => ({ answer: values[0] }),
  },
  decision: {
    fields: (body) => [
      field("decision", decisionLabel(body), {
        options: objects(body.options).map((one) => ({
          value: textOf(one.key),
          label: textOf(one.label) || textOf(one.key),
        })),
        allowCustom: false,
      }),
    ],
    response: (_fields, values) => ({ decision: values[0] }),
  },
  env_var: {
    fields: (body) =>
      objects(body.fields).map((one) =>
        field(textOf(one.name), [textOf(one.label) || textOf(one.name), textOf(one.description)].join(" ").trim(), {
          required: one.required !== false,
          secret: one.sensitive !== false,
        }),
      ),
    response: (fields, values) => ({
      values: Object.fromEntries(fields.map((one, place) => [one.name, values[place]]).filter(([, value]) => value)),
    }),
  },
  questions: {
    fields: (body) => objects(body.questions).map(questionField),
    response: (_fields, values) => ({ answers: values }),
  },
};
