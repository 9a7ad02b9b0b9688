import { describe, expect, it } from "vitest";
import { en, zh } from "@/i18n/messages";

/** Every text, by the names that lead to it. */
function texts(messages: object, path = ""): [string, string][] {
  return Object.entries(messages).flatMap(([name, one]) =>
    typeof one === "string" ? [[`${path}${name}`, one]] : texts(one, `${path}${name}.`),
  );
}

/** Words that an editor took out: nobody says them, or they say what is not so. */
const BANNED = {
  en: [/as the machine/i, /said so\b/i, /\bhand(ed|s)? over\b/i, /as long as it takes/i, /^keys$/i],
  zh: [/机器(看|读)到/, /这么说/, /移交/, /多久都(行|可以)|不限时间等待/, /^(按键|键位)$/],
};
/** A language names itself. */
const OWN_NAMES = ["settings.preferences.zh", "settings.preferences.en"];
const CHINESE = /[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]/;
/** Four words of English in a row. */
const SENTENCE = /[A-Za-z’']+( [A-Za-z’']+){3,}/;

describe.each([
  ["en", en],
  ["zh", zh],
] as const)("the words of the pages in %s", (locale, messages) => {
  it.each(BANNED[locale])("never are %s", (banned) => {
    expect(texts(messages).filter(([, text]) => banned.test(text))).toEqual([]);
  });

  it("are of that language", () => {
    const others = texts(messages).filter(([name, text]) => !OWN_NAMES.includes(name) && isForeign(locale, text));
    expect(others).toEqual([]);
  });

  it("begin and end with no blank that a sentence would have twice", () => {
    expect(texts(messages).filter(([, text]) => / {2}/.test(text))).toEqual([]);
  });
});

function isForeign(locale: "en" | "zh", text: string): boolean {
  // What stands in braces and tags is for the machine.
  const read = text.replace(/<\/?\w+>/g, " ").replace(/\{[^{}]*\}/g, " ");
  return locale === "en" ? CHINESE.test(read) : SENTENCE.test(read);
}

describe("what is called how", () => {
  it("is the same word wherever the list of shortcuts is named", () => {
    expect([en.shell.person.keys, en.shell.help.open]).toEqual(["Shortcuts", "Shortcuts"]);
    expect([zh.shell.person.keys, zh.shell.help.open]).toEqual(["快捷键", "快捷键"]);
  });

  it("names the tool’s description and the agent’s words as theirs", () => {
    expect(en.text.tool).toMatch(/tool’s own/);
    expect(zh.text.tool).toMatch(/工具自带/);
    for (const words of [en.text.written, en.text.said]) expect(words).toMatch(/agent.*not checked/);
    for (const words of [zh.text.written, zh.text.said]) expect(words).toMatch(/智能体.*未经核实/);
  });
});
