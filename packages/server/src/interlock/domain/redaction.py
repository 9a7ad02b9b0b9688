"""Texts without the values that people gave in confidence: libraries put them into error messages, whole or in part.

- Of a value of 8 characters and more, every run of 8 and more is hidden wherever it stands, whatever else it may mean:
  silence goes before beauty. Only runs of nothing but blanks stay, since they tell nothing.
- A value of 4 to 7 characters, and such a line of a longer one, is hidden whole. Shorter ones cannot be told from
  ordinary text, and stay.
- What a library leaves of a value that it shortens (`sk-ab...wxyz`, `****wxyz`) is hidden from 4 characters on.
- Upper and lower case are one, and so are the spellings of `_spellings`.
- A value that is to be hidden as a whole only, because what is left must stay what it was, is hidden where all of it
  stands; one of less than 8 characters where nothing else stands.

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
_LONGEST_HEAD = 32
_LEFT_OUT = re.compile(r"[\[(<]?(?:\.{2,}|…+|\*{2,}|•+|#{3,}|_{3,}|x{3,})[\])>]?")

Span = tuple[int, int]


class Redaction:
    """Made once for the values of a run, then held against its texts; the time is that of one look at the text."""

    def __init__(self, values: Iterable[str] = (), *, wholes: Iterable[str] = ()) -> None:
        """Of `wholes` no part is hidden."""
        self._values = {value for value in values if len(value) >= SHORTEST}
        self._only_whole = {value for value in wholes if len(value) >= SHORTEST}

    def __len__(self) -> int:
        return len(self._values) + len(self._only_whole)

    @property
    def size(self) -> int:
        """How many runs of characters it looks for: memory goes by this."""
        return len(self._runs[0])

    def __call__(self, text: str) -> str:
        return hide(text, self)

    def spans(self, text: str) -> list[Span]:
        if not self or not text:
            return []
        lower = _fold(text)
        found = [*self._wholes_in(lower), *self._alone_in(lower)] if self._only_whole else []
        if self._values:
            found += [*self._runs_in(lower), *self._short_in(lower), *self._remains_in(lower)]
        return found

    def open_end(self, text: str) -> int:
        """Where the end of a text begins that may be the beginning of a value which is hidden as a whole; its length
        where it is not."""
        folded, known = _fold(text), self._by_first
        longest = max((len(whole) for some in known.values() for whole in some), default=0)
        starts = range(max(len(text) - longest + 1, 0), len(text))
        end = next(
            (at for at in starts if any(whole.startswith(folded[at:]) for whole in known.get(folded[at], ()))),
            len(text),
        )
        # The end of one value may be the beginning of the next.
        return min([end, *(start for start, stop in self.spans(text) if start < end < stop)])

    def partial_length(self, text: str) -> int:
        """How long an end of the text is that a value begins with; 0 where it is too short to tell."""
        if not self._values:
            return 0
        folded, heads = _fold(text), self._ends[0]
        sizes = range(min(RUN - 1, len(text)), SHORTEST - 1, -1)
        return next((size for size in sizes if folded[-size:] in heads), 0)

    def extend(self, other: "Redaction") -> None:
        """From now on hide what the other hides in part, too; this costs no more than the other's size."""
        for own, more in zip(self._sets, other._sets, strict=True):
            own.update(more)
        self.__dict__.pop("_any_short", None)

    def finds_in(self, data: bytes) -> bool:
        """Whether something might be hidden within data that was packed like this."""
        text = data.decode("latin-1")
        return bool(self.spans(text)) or any(one in _fold(text) for one in self._alone)

    def raw(self, data: bytes) -> bytes:
        """The same for bytes."""
        text = data.decode("latin-1")
        quiet = self(text)
        return data if quiet == text else quiet.encode("latin-1")

    def within(self, value: Any) -> Any:
        """The same for all texts and bytes within plain data; what is not plain data stays."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, bytes | bytearray):
            return type(value)(self.raw(bytes(value)))
        if isinstance(value, dict):
            return {self.within(key): self.within(one) for key, one in cast("dict[Any, Any]", value).items()}
        if isinstance(value, list | tuple | set | frozenset):
            return _alike(cast("Any", value), [self.within(one) for one in cast("Iterable[Any]", value)])
        return value

    def _runs_in(self, text: str) -> Iterator[Span]:
        runs, pieces = self._runs
        for at in range(0, len(text) - SHORTEST + 1, _STEP):
            if text[at : at + SHORTEST] in pieces:
                for start in range(max(at - _STEP + 1, 0), at + 1):
                    if text[start : start + RUN] in runs:
                        yield start, start + RUN

    def _wholes_in(self, text: str) -> Iterator[Span]:
        size, pieces = self._heads
        candidates: set[str] = set()
        for at in range(0, len(text) - SHORTEST + 1, size - SHORTEST + 1):
            for offset, whole in pieces.get(text[at : at + SHORTEST], ()):
                if offset <= at and whole not in candidates and text.startswith(whole[:size], at - offset):
                    candidates.add(whole)
        for whole in candidates:
            yield from _each(whole, text)

    def _alone_in(self, text: str) -> Iterator[Span]:
        if len(text) < RUN and text in self._alone:
            yield 0, len(text)

    def _short_in(self, text: str) -> Iterator[Span]:
        if self._any_short is not None:
            yield from (found.span() for found in self._any_short.finditer(text))

    def _remains_in(self, text: str) -> Iterator[Span]:
        (heads, tails), (last, first) = self._ends, self._edges
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
    def _all_spellings(self) -> set[str]:
        return {_fold(spelling) for value in self._values for spelling in _spellings(value)}

    @cached_property
    def _runs(self) -> tuple[set[str], set[str]]:
        """All runs of the values, and all pieces of these by which they are found."""
        runs = {text[at : at + RUN] for text in self._all_spellings for at in range(len(text) - RUN + 1)}
        pieces = {text[at : at + SHORTEST] for text in self._all_spellings for at in range(len(text) - SHORTEST + 1)}
        return {run for run in runs if not run.isspace()}, pieces

    @cached_property
    def _heads(self) -> tuple[int, dict[str, set[tuple[int, str]]]]:
        """How much of the beginning of each whole value is looked for at first, and its pieces with their places."""
        wholes = [whole for some in self._by_first.values() for whole in some]
        size = min([_LONGEST_HEAD, *map(len, wholes)])
        pieces: dict[str, set[tuple[int, str]]] = {}
        for whole in wholes:
            for at in range(size - SHORTEST + 1):
                pieces.setdefault(whole[at : at + SHORTEST], set()).add((at, whole))
        return size, pieces

    @cached_property
    def _by_first(self) -> dict[str, set[str]]:
        """The spellings of each whole value, by their first character."""
        found: dict[str, set[str]] = {}
        for text in (_fold(spelling) for value in self._only_whole for spelling in _spellings(value)):
            if len(text) >= RUN:
                found.setdefault(text[0], set()).add(text)
        return found

    @cached_property
    def _alone(self) -> set[str]:
        """Too short to be found within other text without harm."""
        return {_fold(value) for value in self._only_whole if len(value) < RUN}

    @cached_property
    def _any_short(self) -> re.Pattern[str] | None:
        longest_first = sorted(self._short, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    @cached_property
    def _short(self) -> set[str]:
        return {text for text in self._all_spellings | self._lines if SHORTEST <= len(text) < RUN}

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
    def _edges(self) -> tuple[set[str], set[str]]:
        """The characters that stand at a gap, by which most gaps are passed over."""
        heads, tails = self._ends
        return {head[-1] for head in heads}, {tail[0] for tail in tails}

    @property
    def _sets(self) -> tuple[set[str], ...]:
        return self._values, *self._runs, *self._ends, *self._edges, self._short

    @cached_property
    def _lines(self) -> set[str]:
        return {_fold(line.strip()) for value in self._values for line in value.splitlines()}


class CombinedRedaction(Redaction):
    """Hides what any of several hides."""

    def __init__(self, *parts: Redaction) -> None:
        super().__init__()
        self._parts = parts

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def spans(self, text: str) -> list[Span]:
        return [span for part in self._parts for span in part.spans(text)]

    def partial_length(self, text: str) -> int:
        return max((part.partial_length(text) for part in self._parts), default=0)


def hide(text: str, *redactions: Redaction) -> str:
    """The text without what any of them finds in it."""
    spans = sorted(span for redaction in redactions for span in redaction.spans(text))
    return _without(text, spans) if spans else text


def hide_after(before: str, text: str, redact: Redaction) -> str:
    """The text, which goes on after what came `before`, without the parts of values that stand in both."""
    whole, start = before + text, len(before)
    spans = [*redact.spans(whole), (len(whole) - redact.partial_length(whole), len(whole))]
    own = sorted((max(first - start, 0), last - start) for first, last in spans if last > max(start, first))
    return _without(text, own) if own else text


def _alike(model: Any, items: list[Any]) -> Any:
    """A collection of the same kind; a tuple with names takes its items one by one."""
    if hasattr(model, "_fields"):
        return type(model)(*items)
    kinds: tuple[Any, ...] = (list, tuple, set, frozenset)
    return next(kind for kind in kinds if isinstance(model, kind))(items)


def _each(whole: str, text: str) -> Iterator[Span]:
    at = text.find(whole)
    while at >= 0:
        yield at, at + len(whole)
        at = text.find(whole, at + len(whole))


def _fold(text: str) -> str:
    """In lower case, one character for each: the two that lower() makes into two, or by their place, are mended."""
    return text.replace("İ", "i").lower().replace("ς", "σ")


def _without(text: str, spans: list[Span]) -> str:
    merged = [spans[0]]
    for start, end in spans[1:]:
        if start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    pieces = [text[end:start] for (_, end), (start, _) in pairwise([(0, 0), *merged, (len(text), len(text))])]
    return HIDDEN.join(pieces)


def _spellings(value: str) -> set[str]:
    """As errors and logs write a value: as it is, escaped for Python, JSON, an address or markup, and that once more in
    JSON; in hex, with what tools put between the bytes, and in base64."""
    raw = value.encode("utf-8", "surrogatepass")
    plain = {value, repr(value)[1:-1], ascii(value)[1:-1], repr(raw)[2:-1], escape(value), *_in_json(value)}
    # As bytes are read here.
    plain.add(raw.decode("latin-1"))
    plain |= {quote(raw, safe="").replace("%20", "+"), quote(raw, safe=""), quote(raw), quote_plus(raw, safe="/")}
    plain |= {twice for once in plain for twice in _in_json(once)}
    return plain | _in_hex(raw) | {text for text in _in_base64(raw) if len(text) >= RUN}


def _in_json(text: str) -> set[str]:
    return {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}


def _in_hex(raw: bytes) -> set[str]:
    return {raw.hex(), *(raw.hex(between) for between in ":- "), raw.hex(" ", 2), raw.hex(" ", -2)}


def _in_base64(raw: bytes) -> set[str]:
    """Wherever in an encoded text it stands: up to two bytes before it move it, and its edges mix with theirs."""
    found: set[str] = set()
    for before in range(3):
        own = slice(ceil(before * 8 / 6), (before + len(raw)) * 8 // 6)
        shifted = b"\0" * before + raw
        found |= {encode(shifted).decode()[own] for encode in (base64.b64encode, base64.urlsafe_b64encode)}
    return found
