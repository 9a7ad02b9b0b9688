import { render } from "@testing-library/react";
import { IntlProvider } from "use-intl";
import { describe, expect, it } from "vitest";
import { addressOf, isSpelledOut } from "@/chat/markdown/address";
import AgentMarkdown from "@/chat/markdown/markdown";
import { revealed } from "@/chat/markdown/reveal-markup";
import { en } from "@/i18n/messages";

function drawn(text: string): HTMLElement {
  return render(
    <IntlProvider locale="en" messages={en} timeZone="UTC">
      <AgentMarkdown text={text} />
    </IntlProvider>,
  ).container;
}

function inert(text: string): HTMLElement {
  return render(
    <IntlProvider locale="en" messages={en} timeZone="UTC">
      <AgentMarkdown text={text} isInert />
    </IntlProvider>,
  ).container;
}

describe("Markdown that somebody decides by", () => {
  it("has no link that acts, and names where each leads", () => {
    const page = inert("[com](https://evil.com) [](https://empty.example) www.plain.example <a@b.example>");
    expect(page.querySelectorAll("a")).toHaveLength(0);
    expect(page.textContent).toContain("com (https://evil.com)");
    expect(page.textContent).toContain("(https://empty.example)");
    expect(page.textContent).not.toContain("http://www.plain.example");
  });

  it.each([
    ["[//]: # (a comment)", "a comment"],
    ["[a][one]\n\n[one]: https://evil.example 'and more'", "and more"],
    ["text[^1]\n\n[^1]: a note\n\n[^2]: another", "another"],
    ["```sh title=x\nls\n```", "sh title=x"],
    ["<!-- a remark -->\n\ntext", "a remark"],
  ])("spells out what would not be drawn: %s", (text, shown) => {
    const page = inert(text);
    expect(page.textContent).toContain(shown);
    expect(page.textContent).not.toContain("Shown as plain text");
  });

  it.each([
    ["| a |\n|---|\n| b | beyond the table |", "beyond the table"],
    ['[a](https://b.example "a title")', "a title"],
    ["&#x72;&#x6d; it", "&#x72;"],
  ])("is plain text where something would be lost: %s", (text, shown) => {
    const page = inert(text);
    expect(page.textContent).toContain("Shown as plain text");
    expect(page.querySelector("pre")?.textContent).toBe(text);
    expect(page.textContent).toContain(shown);
  });

  it("is drawn as such where all is there", () => {
    const page = inert(
      "# Plan\n\n1. one **two**\n   - [x] three\n\n> 3. `four`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n    4. code",
    );
    expect(page.textContent).not.toContain("Shown as plain text");
    expect(page.querySelectorAll("ol, table, strong, blockquote").length).toBeGreaterThanOrEqual(4);
  });
});

describe("the agent's Markdown", () => {
  it("has links with their whole address, opened apart", () => {
    const page = drawn("[harmless](https://evil.example/a?b=1) and https://example.com");
    const [first, second] = page.querySelectorAll("a");
    expect(first?.getAttribute("href")).toBe("https://evil.example/a?b=1");
    expect(first?.rel).toBe("noopener noreferrer");
    expect(first?.target).toBe("_blank");
    expect(page.textContent).toBe("harmless (https://evil.example/a?b=1) and https://example.com");
    expect(second?.textContent).toBe("https://example.com");
  });

  it("makes no links that lead elsewhere than out", () => {
    const page = drawn("[one](javascript:alert(1)) [two](/settings) [three](data:text/html,x)");
    expect(page.querySelectorAll("a")).toHaveLength(0);
    expect(page.textContent).toContain("one (javascript:alert(1))");
  });

  it("fetches no pictures and draws no HTML", () => {
    const page = drawn("![alt](https://evil.example/p.png)\n\n<img src=x> <b>bold</b>\n\n<script>alert(1)</script>");
    expect(page.querySelectorAll("img, b, script")).toHaveLength(0);
    expect(page.textContent).toContain("[image: alt] (https://evil.example/p.png)");
    expect(page.textContent).toContain("<b>bold</b>");
  });

  it("has no headings of the page", () => {
    expect(drawn("# One\n\n## Two").querySelectorAll("h1, h2, h3")).toHaveLength(0);
  });

  it("shows hidden characters, in code and tables too", () => {
    const page = drawn("a\u202eb `c\u200bd`\n\n```\n\u2066x\n```\n\n|h|\n|-|\n|\u00a0|");
    for (const spelled of ["‹U+202E RLO›", "‹U+200B ZWSP›", "‹U+2066 LRI›", "‹U+00A0 NBSP›"]) {
      expect(page.textContent).toContain(spelled);
    }
  });
});

describe("hidden characters", () => {
  const texts = (text: string) => revealed(text).map((node) => node.value ?? node.properties);

  it("are marks between texts", () => {
    expect(texts("a\u202eb")).toEqual(["a", { dataHidden: "U+202E RLO" }, "b"]);
    expect(texts(`a${" ".repeat(30)}b`)).toEqual(["a", { dataBlanks: "30" }, "b"]);
  });

  it("are none where a picture is made of them", () => {
    expect(texts("⚠️ 👨‍👩‍👧 1️⃣ ok")).toEqual(["⚠️ 👨‍👩‍👧 1️⃣ ok"]);
    expect(texts("a\ufe0f")).toEqual(["a", { dataHidden: "U+FE0F" }]);
  });

  it("leave line breaks and tabs to Markdown", () => {
    expect(texts("a\n\tb")).toEqual(["a\n\tb"]);
  });
});

describe("an address", () => {
  it("is spelled in the letters that decide where it leads", () => {
    expect(addressOf("https://аррӏе.com/")).toMatch(/^https:\/\/xn--/);
    expect(addressOf("ftp://x")).toBeNull();
    expect(addressOf("nonsense")).toBeNull();
    expect(isSpelledOut("https://example.com", "https://example.com/")).toBe(true);
    expect(isSpelledOut("example.com", "https://example.com/")).toBe(false);
  });
});
