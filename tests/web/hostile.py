"""Texts that were written to deceive their reader, and what a page really shows of them."""

import json
import random
import unicodedata
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from playwright.sync_api import Locator

SEED = 20_260
LONGEST_GAP = 20
LONGEST_BREAK = 3

_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
_NOTHING = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u180e\u115f\u1160\u3164\uffa0\u2800\u17b4\ufe0f\U000e0100"
_CONTROLS = "".join(map(chr, (*range(9), *range(11, 32), *range(127, 160))))
_TAGS = "".join(map(chr, range(0xE0020, 0xE0080))) + "\U000e0001"
_BREAKS = "\r\u2028\u2029\x85\x0b\x0c"
_BLANKS = " \u3000\u00a0\u2000\u2003\u2009\u202f\u205f\t"
_HALVES = "\ud800\udbff\udc00\udfff"
_OTHERS = "\ue000\uf8ff\U000f0000\ufdd0\ufffe\U0001ffff\u0378"
_LETTERS = "abcXYZ 019./-_$()é漢字かな한글עבריתالعربية🙂👩‍👩‍👧e\u0301\u0337\ufffd"
_MARKUP = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    '<a href="javascript:alert(1)">Approve</a>',
    "</code></div><button>Approve</button>",
    "<style>*{display:none}</style><iframe src=//evil.example>",
    "<!--",
    "&lt;b&gt;&nbsp;&#8238;",
    "[click](javascript:alert(1)) ![i](https://evil.example/p.png)",
    "# Approved\n\n**bold** `code` ~~x~~ | a | b |\n- [x] done",
    "https://evil.example/?q=1",
    "{{constructor}} ${7*7} %s %n",
    '",\n  "force": true,\n  "x": "',
    '"\\u202e\\n\\"\\',
    "‹U+202E RLO› ‹40 blank lines›",
    "End · 2 arguments · type 0000 to approve",
    "\x1b[2J\x1b[1;1H\x1b[8mhidden\x1b[0m\x1b]8;;https://evil.example\x07link\x1b]8;;\x07",
    "rm -rf /\r# echo hello",
)


def strings(count: int) -> list[str]:
    """The same ones each time; each has its number, so that no two are alike."""
    chance = random.Random(SEED)
    made = [f"{number}:{_made(chance)}" for number in range(count)]
    # Two halves that come to stand together are one character, as soon as they have been sent.
    return json.loads(json.dumps(made))


def _made(chance: random.Random) -> str:
    return "".join(_piece(chance) for _ in range(chance.randint(1, 4)))


def _piece(chance: random.Random) -> str:
    kind = chance.randrange(12)
    if kind == 0:
        return chance.choice(_MARKUP)
    if kind == 1:
        return chance.choice(_BLANKS) * chance.choice((1, 2, 20, 21, 45))
    if kind == 2:
        return "\n" * chance.choice((1, 2, 3, 4, 5, 40))
    if kind == 3 and chance.random() < 0.05:
        return chance.choice(_LETTERS) * 5_000
    alphabet = chance.choice((_BIDI, _NOTHING, _CONTROLS, _TAGS, _BREAKS, _BLANKS, _HALVES, _OTHERS, _LETTERS))
    return "".join(chance.choices(alphabet, k=chance.randint(1, 6)))


def is_hidden(character: str) -> bool:
    """Whether a reader would not see it, or would read what stands around it otherwise than it is."""
    if character in " \u3000":
        return False
    return unicodedata.category(character)[0] in "CZ" or character in _NOTHING


@dataclass(frozen=True)
class Shown:
    """What a part of a page holds: texts with their chips turned back, and what they are made of."""

    texts: list[list[str]]
    """Line by line."""
    elements: set[str]
    attributes: set[str]
    characters: str
    """Each that stands in a text node, once."""


def shown_in(places: Locator) -> Shown:
    found: dict[str, Any] = json.loads(places.evaluate_all(_READ))
    return Shown(found["texts"], set(found["elements"]), set(found["attributes"]), found["characters"])


# As JSON, since halves of characters do not pass the wire otherwise.
_READ = r"""(places) => {
  const elements = new Set(), attributes = new Set(), characters = new Set();
  const chip = (node) => {
    const hidden = /^hidden character U\+([0-9A-F]+)(?: [^×]*)?(?:×(\d+))?$/.exec(node.title);
    if (hidden) return String.fromCodePoint(Number.parseInt(hidden[1], 16)).repeat(Number(hidden[2] ?? 1));
    const blanks = node.children.length === 0 && /^‹([\d,]+) (blank|blanks|blank lines)›$/.exec(node.textContent);
    if (!blanks) return null;
    const count = Number(blanks[1].replaceAll(",", ""));
    return blanks[2] === "blank lines" ? "\n".repeat(count - 1) : " ".repeat(count);
  };
  const read = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      for (const character of node.data) characters.add(character);
      return node.data;
    }
    elements.add(node.localName);
    for (const { name } of node.attributes) attributes.add(name);
    return (node.localName === "span" ? chip(node) : null) ?? [...node.childNodes].map(read).join("");
  };
  const linesOf = (place) => {
    const lines = [...place.querySelectorAll("[data-lines] > *")];
    return (lines.length > 0 ? lines : [place]).flatMap((line) => read(line).split("\n"));
  };
  const texts = places.map(linesOf);
  for (const place of places) read(place);
  const whole = { texts, elements: [...elements], attributes: [...attributes], characters: [...characters].join("") };
  return JSON.stringify(whole);
}"""


def spaced(lines: list[str]) -> list[str]:
    """As it can be read back: of many blanks in a row only their number is told, of many empty lines theirs."""
    found: list[str] = []
    for is_blank, group in groupby(lines, lambda line: not line.strip(" \u3000")):
        run = list(group)
        found += [""] * len(run) if is_blank and len(run) > LONGEST_BREAK else map(_gaps, run)
    return found


def _gaps(line: str) -> str:
    runs = ("".join(group) for _, group in groupby(line, lambda character: character in " \u3000"))
    return "".join(" " * len(run) if len(run) > LONGEST_GAP and not run.strip(" \u3000") else run for run in runs)
