"""What an agent wrote, in pieces that can be told apart: its letters, and what would otherwise not be seen."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from interlock_client.visible import visible

Style = Literal["", "hidden", "name", "quiet", "added", "removed"]

LONGEST_GAP = 20
LONGEST_BREAK = 3

_GAP = re.compile(rf" {{{LONGEST_GAP + 1},}}")
_JSON_ESCAPE = re.compile(rf"\\(?:u[0-9a-f]{{4}}|[^u])| {{{LONGEST_GAP + 1},}}")
_LEGIBLE = ("\\n", "\\t", '\\"', "\\\\")


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    style: Style = ""


Line = tuple[Piece, ...]


def line(text: str) -> Line:
    """One line, whatever it holds: hidden characters as escapes, long gaps as their length."""
    return tuple(_pieces(text))


def lines(text: str) -> Iterator[Line]:
    """A text of several lines; of many empty ones in a row it is told how many there are."""
    empty = 0
    for one in [*text.split("\n"), None]:
        if one is not None and not one.strip(" "):
            empty += 1
            continue
        if empty > LONGEST_BREAK:
            yield (Piece(f"‹{empty} blank lines›", "hidden"),)
        else:
            yield from ((),) * empty
        empty = 0
        if one is not None:
            yield line(one)


def json_lines(value: Any) -> Iterator[Line]:
    """A JSON value; what would not be seen is in JSON's own escapes, and marked."""
    for one in json_text(value).split("\n"):
        yield json_line(one)


def json_line(text: str) -> Line:
    """One line of `json_text`."""
    return tuple(_json_pieces(text))


def json_text(value: Any, *, indent: int | None = 2) -> str:
    """JSON that reads back as the same value, and hides nothing from whoever reads or edits it."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    hidden = {one for one in set(text) if one not in "\n " and visible(one) != one}
    return "".join(_escape_json(one) if one in hidden else one for one in text) if hidden else text


def plain(pieces: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def _pieces(text: str) -> Iterator[Piece]:
    place = 0
    for gap in _GAP.finditer(text):
        yield from _characters(text[place : gap.start()])
        yield Piece(f"‹{len(gap.group())} blanks›", "hidden")
        place = gap.end()
    yield from _characters(text[place:])


def _characters(text: str) -> Iterator[Piece]:
    hidden = {one for one in set(text) if visible(one, keep="") != one}
    if not hidden:
        if text:
            yield Piece(text)
        return
    for part in re.split(f"([{re.escape(''.join(sorted(hidden)))}]+)", text):
        if part:
            is_hidden = part[0] in hidden
            yield Piece(visible(part, keep="") if is_hidden else part, "hidden" if is_hidden else "")


def _json_pieces(text: str) -> Iterator[Piece]:
    place = 0
    for escape in _JSON_ESCAPE.finditer(text):
        if escape.group() in _LEGIBLE:
            continue
        if escape.start() > place:
            yield Piece(text[place : escape.start()])
        found = escape.group()
        yield Piece(f"‹{len(found)} blanks›" if found.startswith(" ") else found, "hidden")
        place = escape.end()
    if place < len(text):
        yield Piece(text[place:])


def _escape_json(character: str) -> str:
    return json.dumps(character)[1:-1]
