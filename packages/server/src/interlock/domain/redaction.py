"""Texts without the values that people gave in confidence: libraries put them into error messages, whole or in part.

- Of a value of 8 characters and more, every run of 8 and more is hidden wherever it stands, whatever else it may mean:
  silence goes before beauty. Only runs of nothing but blanks stay, since they tell nothing.
- A value of 4 to 7 characters, and such a line of a longer one, is hidden whole. Shorter ones cannot be told from
  ordinary text, and stay.
- What a library leaves of a value that it shortens (`sk-ab...wxyz`, `****wxyz`) is hidden from 4 characters on.
- Upper and lower case are one, and so are the spellings of `_spellings`.

All is found in the text as it came, and then hidden at once, so no value hides less because of another.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from html import escape
from itertools import pairwise
from math import ceil
from typing import Any, cast
from urllib.parse import quote, quote_plus

HIDDEN = "***"
SHORTEST = 4
RUN = 8
_STEP = RUN - SHORTEST + 1
"""Whichever run stands in a text, a piece of `SHORTEST` of it begins at a multiple of this."""
_LEFT_OUT = re.compile(r"[\[(<]?(?:\.{2,}|…+|\*{2,}|•+|#{3,}|_{3,}|x{3,})[\])>]?")

Span = tuple[int, int]


class Redaction:
    """Made once for the values of a run, then held against its texts; the time is that of one look at the text."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = tuple({value for value in values if len(value) >= SHORTEST})

    def __call__(self, text: str) -> str:
        if not self._values or not text:
            return text
        folded = _folded(text)
        spans = sorted([*self._runs_in(folded), *self._wholes_in(folded), *self._remains_in(folded)])
        return _without(text, spans) if spans else text

    def within(self, value: Any) -> Any:
        """The same for all texts within plain data; what is not plain data stays."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, dict):
            return {self.within(key): self.within(one) for key, one in cast("dict[Any, Any]", value).items()}
        if isinstance(value, list):
            return [self.within(one) for one in cast("list[Any]", value)]
        return value

    def _runs_in(self, text: str) -> Iterator[Span]:
        runs, pieces = self._runs
        for at in range(0, len(text) - SHORTEST + 1, _STEP):
            if text[at : at + SHORTEST] in pieces:
                for start in range(max(at - _STEP + 1, 0), at + 1):
                    if text[start : start + RUN] in runs:
                        yield start, start + RUN

    def _wholes_in(self, text: str) -> Iterator[Span]:
        if self._wholes is not None:
            yield from (found.span() for found in self._wholes.finditer(text))

    def _remains_in(self, text: str) -> Iterator[Span]:
        heads, tails = self._ends
        last, first = {head[-1] for head in heads}, {tail[0] for tail in tails}
        sizes = range(RUN, 0, -1)
        for gap in _LEFT_OUT.finditer(text):
            start, end = gap.span()
            head = tail = 0
            if text[start - 1 : start] in last:
                head = next((size for size in sizes if size <= start and text[start - size : start] in heads), 0)
            if text[end : end + 1] in first:
                tail = next((size for size in sizes if text[end : end + size] in tails), 0)
            if head + tail >= SHORTEST:
                yield start - head, end + tail

    @cached_property
    def _spelled(self) -> set[str]:
        return {_folded(spelling) for value in self._values for spelling in _spellings(value)}

    @cached_property
    def _runs(self) -> tuple[set[str], set[str]]:
        """All runs of the values, and all pieces of these by which they are found."""
        runs = {text[at : at + RUN] for text in self._spelled for at in range(len(text) - RUN + 1)}
        pieces = {text[at : at + SHORTEST] for text in self._spelled for at in range(len(text) - SHORTEST + 1)}
        return {run for run in runs if not run.isspace()}, pieces

    @cached_property
    def _wholes(self) -> re.Pattern[str] | None:
        short = {text for text in self._spelled | self._lines if SHORTEST <= len(text) < RUN}
        return re.compile("|".join(map(re.escape, sorted(short, key=len, reverse=True)))) if short else None

    @cached_property
    def _ends(self) -> tuple[set[str], set[str]]:
        """What a library may leave of a value before a gap and after it: a few characters of a line, or a run."""
        texts, sizes = [line for line in self._lines if len(line) >= RUN], range(1, RUN)
        heads, tails = (
            {text[:size] for text in texts for size in sizes},
            {text[-size:] for text in texts for size in sizes},
        )
        return heads | self._runs[0], tails | self._runs[0]

    @cached_property
    def _lines(self) -> set[str]:
        return {_folded(line.strip()) for value in self._values for line in value.splitlines()}


def _folded(text: str) -> str:
    """In lower case, one character for each: the two that lower() makes into two, or by their place, are mended."""
    return text.replace("İ", "i").lower().replace("ς", "σ")


def _without(text: str, spans: list[Span]) -> str:
    merged = [spans[0]]
    for start, end in spans[1:]:
        if start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    kept = [text[end:start] for (_, end), (start, _) in pairwise([(0, 0), *merged, (len(text), len(text))])]
    return HIDDEN.join(kept)


def _spellings(value: str) -> set[str]:
    """As errors and logs write a value: as it is, escaped for Python, JSON, an address or markup, and that once more in
    JSON; in hex and in base64."""
    raw = value.encode("utf-8", "surrogatepass")
    plain = {value, repr(value)[1:-1], ascii(value)[1:-1], repr(raw)[2:-1], escape(value), *_in_json(value)}
    plain |= {quote(raw, safe="").replace("%20", "+"), quote(raw, safe=""), quote(raw), quote_plus(raw, safe="/")}
    plain |= {twice for once in plain for twice in _in_json(once)}
    return plain | {raw.hex()} | {text for text in _in_base64(raw) if len(text) >= RUN}


def _in_json(text: str) -> set[str]:
    return {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}


def _in_base64(raw: bytes) -> set[str]:
    """Wherever in an encoded text it stands: up to two bytes before it move it, and its edges mix with theirs."""
    found: set[str] = set()
    for before in range(3):
        own = slice(ceil(before * 8 / 6), (before + len(raw)) * 8 // 6)
        shifted = b"\0" * before + raw
        found |= {encode(shifted).decode()[own] for encode in (base64.b64encode, base64.urlsafe_b64encode)}
    return found
