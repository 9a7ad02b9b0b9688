/** What is typed to set a channel up, and what the server is sent of it. */
import type { ChannelKind, NewChannel, SettingField } from "interlock-client/wire";

export interface Draft {
  kind: string;
  name: string;
  shows: "headline" | "full";
  ceiling: "low" | "medium";
  /** By the names of fields, as it was typed. */
  values: Record<string, string>;
}

export function draftOf(kind: ChannelKind): Draft {
  const values = Object.fromEntries(kind.fields.map((one) => [one.name, one.default]));
  return { kind: kind.kind, name: "", shows: "headline", ceiling: "low", values };
}

export function channelOf(draft: Draft, fields: readonly SettingField[]): NewChannel {
  const settings: Record<string, unknown> = {};
  const credentials: Record<string, string> = {};
  for (const field of fields) {
    const typed = draft.values[field.name] ?? "";
    const value = field.type === "secret" ? typed : typed.trim();
    if (!value) continue;
    if (field.type === "secret") credentials[field.name] = value;
    else settings[field.name] = read(field, value);
  }
  const { kind, name, shows, ceiling } = draft;
  return { kind, name: name.trim(), shows, ceiling, settings, credentials };
}

/** What is no number goes as it was typed, for the server to say so. */
function read(field: SettingField, typed: string): unknown {
  if (field.type === "list") return typed.split(/[\s,]+/).filter(Boolean);
  if (field.type === "number" && /^\d+$/.test(typed)) return Number(typed);
  return typed;
}

export function missing(draft: Draft, fields: readonly SettingField[]): boolean {
  return fields.some((one) => one.required && !draft.values[one.name]?.trim());
}
