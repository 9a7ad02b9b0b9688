/** A form for the arguments of a call, made of the JSON Schema of its tool. What it cannot say is edited as JSON. */
import { isObject, type JsonObject, textOf } from "interlock-client/json";

export type Field =
  | { type: "text" }
  | { type: "number"; isWhole: boolean }
  | { type: "boolean" }
  | { type: "null" }
  | { type: "choice"; values: unknown[] }
  | { type: "list"; item: Field }
  | { type: "object"; entries: Entry[] }
  /** One of several, told apart by their JSON types. */
  | { type: "either"; variants: Field[] }
  | { type: "raw" };

export interface Entry {
  name: string;
  field: Field;
  isRequired: boolean;
  description: string;
}

export interface Form {
  schema: JsonObject;
  field: Field;
}

const RAW: Field = { type: "raw" };
const DEEPEST = 6;

/** Where nobody said what the tool takes, each argument keeps the type that it has. */
export function formOf(schema: JsonObject | null, args: JsonObject): Form {
  const known = schema ?? schemaLike(args);
  return { schema: known, field: fitted(fieldOf(known, known, 0), args) };
}

export function fieldOf(given: unknown, root: JsonObject, depth: number): Field {
  const schema = resolved(given, root);
  if (!schema || depth > DEEPEST) return RAW;
  if (Array.isArray(schema.enum)) return { type: "choice", values: schema.enum };
  if ("const" in schema) return { type: "choice", values: [schema.const] };
  const several = variantsIn(schema);
  if (several) return either(several.map((one) => fieldOf(one, root, depth + 1)));
  return ofType(schema, root, depth);
}

function ofType(schema: JsonObject, root: JsonObject, depth: number): Field {
  switch (schema.type) {
    case "string":
      return { type: "text" };
    case "number":
    case "integer":
      return { type: "number", isWhole: schema.type === "integer" };
    case "boolean":
    case "null":
      return { type: schema.type };
    case "array":
      return isObject(schema.items) ? { type: "list", item: fieldOf(schema.items, root, depth + 1) } : RAW;
    case "object":
      return isObject(schema.properties) ? { type: "object", entries: entriesOf(schema, root, depth) } : RAW;
    default:
      return RAW;
  }
}

function entriesOf(schema: JsonObject, root: JsonObject, depth: number): Entry[] {
  const required = new Set<unknown>(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(schema.properties as JsonObject).map(([name, part]) => ({
    name,
    field: fieldOf(part, root, depth + 1),
    isRequired: required.has(name),
    description: isObject(part) ? textOf(part.description) : "",
  }));
}

function variantsIn(schema: JsonObject): unknown[] | null {
  if (Array.isArray(schema.type)) return schema.type.map((type) => ({ ...schema, type }));
  for (const name of ["anyOf", "oneOf"]) if (Array.isArray(schema[name])) return schema[name];
  return null;
}

function either(variants: Field[]): Field {
  const [only] = variants;
  if (only && variants.length === 1) return only;
  const types = variants.map(jsonType);
  const areApart = types.every((type) => type !== null) && new Set(types).size === types.length;
  return areApart ? { type: "either", variants } : RAW;
}

/** By what a value of the field is known; null where it may be anything. */
function jsonType(field: Field): string | null {
  switch (field.type) {
    case "raw":
    case "either":
      return null;
    case "choice":
      return field.values.every((one) => typeof one === "string") ? "text" : null;
    default:
      return field.type;
  }
}

function resolved(given: unknown, root: JsonObject): JsonObject | null {
  let schema = given;
  for (let steps = 0; isObject(schema) && typeof schema.$ref === "string"; steps += 1) {
    if (steps > DEEPEST) return null;
    schema = pointed(schema.$ref, root);
  }
  const only = isObject(schema) && Array.isArray(schema.allOf) && schema.allOf.length === 1 ? schema.allOf[0] : null;
  if (only) return resolved(only, root);
  return isObject(schema) ? schema : null;
}

function pointed(reference: string, root: JsonObject): unknown {
  if (!reference.startsWith("#/")) return null;
  const names = reference.slice(2).split("/");
  return names.reduce<unknown>((at, name) => (isObject(at) ? at[unescaped(name)] : null), root);
}

function unescaped(name: string): string {
  return name.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** The field for this very value: as JSON where the value is not of the field's form, and with what is named beside it. */
function fitted(field: Field, value: unknown): Field {
  if (!fits(field, value)) return RAW;
  switch (field.type) {
    case "object":
      return { type: "object", entries: fittedEntries(field.entries, value as JsonObject) };
    case "list": {
      const items = (value as unknown[]).map((item) => fitted(field.item, item));
      return items.some((item) => item.type === "raw") ? RAW : field;
    }
    default:
      return field;
  }
}

function fittedEntries(entries: readonly Entry[], value: JsonObject): Entry[] {
  const known = entries.map((entry) =>
    Object.hasOwn(value, entry.name) ? { ...entry, field: fitted(entry.field, value[entry.name]) } : entry,
  );
  const names = new Set(entries.map((entry) => entry.name));
  const others = Object.keys(value).filter((name) => !names.has(name));
  return [...known, ...others.map((name) => ({ name, field: RAW, isRequired: false, description: "" }))];
}

export function fits(field: Field, value: unknown): boolean {
  switch (field.type) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "null":
      return value === null;
    case "choice":
      return field.values.some((one) => JSON.stringify(one) === JSON.stringify(value));
    case "list":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "either":
      return field.variants.some((variant) => fits(variant, value));
    case "raw":
      return true;
  }
}

/** What a field holds before anybody has filled it in. */
export function blank(field: Field): unknown {
  switch (field.type) {
    case "text":
      return "";
    case "number":
      return 0;
    case "boolean":
      return false;
    case "choice":
      return field.values[0] ?? null;
    case "list":
      return [];
    case "object":
      return Object.fromEntries(
        field.entries.filter((one) => one.isRequired).map((one) => [one.name, blank(one.field)]),
      );
    case "either":
      return blank(field.variants[0] ?? RAW);
    default:
      return null;
  }
}

/** A number, or the text itself where it is none: the schema then refuses it. */
export function readNumber(text: string, isWhole: boolean): number | string {
  const isNumber = isWhole ? /^-?\d+$/ : /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
  const number = Number(text);
  const isExact = !Number.isInteger(number) || Number.isSafeInteger(number);
  return isNumber.test(text.trim()) && Number.isFinite(number) && isExact ? number : text;
}

function schemaLike(value: unknown): JsonObject {
  if (Array.isArray(value)) return { type: "array", ...(value.length > 0 ? { items: itemLike(value) } : {}) };
  if (!isObject(value)) return value === null ? {} : { type: typeof value };
  const properties = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, schemaLike(one)]));
  return { type: "object", properties, required: Object.keys(value) };
}

/** Of items that are not alike nothing is said. */
function itemLike(items: readonly unknown[]): JsonObject {
  const [first, ...rest] = items.map((item) => JSON.stringify(schemaLike(item)));
  return first !== undefined && rest.every((one) => one === first) ? (JSON.parse(first) as JsonObject) : {};
}
