import type { ChannelKind, SettingField } from "interlock-client/wire";
import { describe, expect, it } from "vitest";
import { channelOf, draftOf, missing } from "@/settings/channels/draft";

const field: Omit<SettingField, "name"> = { type: "text", required: false, options: [], default: "" };
const KIND: ChannelKind = {
  kind: "mail",
  has_form: true,
  linked_by: "code",
  answers: false,
  fields: [
    { ...field, name: "host", type: "choice", required: true, options: ["a.example"], default: "a.example" },
    { ...field, name: "port", type: "number" },
    { ...field, name: "sender", required: true },
    { ...field, name: "password", type: "secret" },
    { ...field, name: "domains", type: "list" },
  ],
};

describe("what is sent of what was typed", () => {
  const typed = { ...draftOf(KIND), name: " Mail ", values: { ...draftOf(KIND).values, sender: " a@x.example " } };
  const made = (values: Record<string, string>) =>
    channelOf({ ...typed, values: { ...typed.values, ...values } }, KIND.fields);

  it("leaves out what is empty, and begins with what the server says", () => {
    expect(made({})).toEqual({
      kind: "mail",
      name: "Mail",
      shows: "headline",
      ceiling: "low",
      settings: { host: "a.example", sender: "a@x.example" },
      credentials: {},
    });
  });

  it("takes numbers and lists apart, and keeps a password as it was typed, beside the settings", () => {
    const { settings, credentials } = made({ port: "25", domains: "x.example, y.example", password: " p " });
    expect(settings).toMatchObject({ port: 25, domains: ["x.example", "y.example"] });
    expect(credentials).toEqual({ password: " p " });
    expect(made({ port: "many" }).settings).toMatchObject({ port: "many" });
  });

  it("waits for what is needed", () => {
    expect(missing(draftOf(KIND), KIND.fields)).toBe(true);
    expect(missing(typed, KIND.fields)).toBe(false);
  });
});
