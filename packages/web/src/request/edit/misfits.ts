/** Where arguments are not of the form that their tool takes. The server looks again, and its word counts. */
import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import { type FieldError, InvalidInput } from "interlock-client/errors";
import type { JsonObject } from "interlock-client/json";
import { under } from "./paths";

export type Reason =
  | "type"
  | "missing"
  | "unknown"
  | "choice"
  | "low"
  | "high"
  | "short"
  | "long"
  | "pattern"
  | "json"
  | "other";

export interface Misfit {
  /** Names and places, from the arguments down; "" joins none. */
  path: string;
  reason: Reason;
  /** The server's own words, where it is the server's. */
  message?: string;
}

const REASONS: Readonly<Record<string, Reason>> = {
  type: "type",
  required: "missing",
  false: "unknown",
  enum: "choice",
  const: "choice",
  minimum: "low",
  exclusiveMinimum: "low",
  maximum: "high",
  exclusiveMaximum: "high",
  minLength: "short",
  minItems: "short",
  maxLength: "long",
  maxItems: "long",
  pattern: "pattern",
  format: "pattern",
};
/** These only tell that something further down does not fit. */
const OUTER = [
  "properties",
  "patternProperties",
  "additionalProperties",
  "items",
  "prefixItems",
  "$ref",
  "allOf",
  "anyOf",
  "oneOf",
];

export function misfitsOf(schema: JsonObject, args: JsonObject): Misfit[] {
  let errors: OutputUnit[];
  try {
    ({ errors } = new Validator(schema as Schema, "2020-12", false).validate(args));
  } catch {
    // A schema that this page cannot read: the server can.
    return [];
  }
  const inner = errors.filter((error) => !OUTER.includes(error.keyword));
  const found = (inner.length > 0 ? inner : errors).map(misfit);
  return found.filter((one, place) => found.findIndex((other) => other.path === one.path) === place);
}

/** What the server found, which names arguments as `args.NAME.PLACE`. */
export function serverMisfits(error: unknown): Misfit[] {
  if (!(error instanceof InvalidInput)) return [];
  return error.errors.filter((one) => /^args(\.|$)/.test(one.field)).map(told);
}

function told({ field, message }: FieldError): Misfit {
  return { path: field.replace(/^args\.?/, ""), reason: "other", message };
}

function misfit({ keyword, instanceLocation, error }: OutputUnit): Misfit {
  const path = instanceLocation
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".");
  const reason = REASONS[keyword] ?? "other";
  const missing = reason === "missing" ? /"(.*)"/s.exec(error)?.[1] : undefined;
  return { path: missing === undefined ? path : under(path, missing), reason };
}
