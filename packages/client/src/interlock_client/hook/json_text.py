"""A settings file as text: one member of it is changed, and every other character stays, comments too."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from interlock_client.hook.call import object_of

_SPACE = " \t\r\n"
_COMMENTS = ("//", "/*")


class NotJson(ValueError):
    """Not an object in JSON, also with comments and a comma at the end."""


@dataclass(frozen=True)
class Member:
    name: str
    begin: int
    """Of its name."""
    value: int
    end: int


def read(text: str) -> dict[str, Any]:
    """What it says, without its comments."""
    try:
        members = object_of(json.loads("".join(_plain(text)))) if text.strip() else {}
    except ValueError as error:
        raise NotJson(str(error)) from error
    if members is None:
        raise NotJson("not an object")
    return members


def set_member(text: str, name: str, value: Any) -> str:
    """The text with that member; None: without it."""
    if not text.strip():
        text = "{}\n"
    members, close = _members(text)
    found = next((place for place, one in enumerate(members) if one.name == name), None)
    if value is None:
        return text if found is None else _without(text, members, found)
    indent = _indent(text)
    written = json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", "\n" + indent)
    if found is not None:
        return text[: members[found].value] + written + text[members[found].end :]
    added = f'\n{indent}"{name}": {written}'
    if not members:
        return text[:close].rstrip(_SPACE) + added + "\n" + text[close:]
    end = members[-1].end
    # A comment behind the last member stays there.
    behind = text[end:close].rstrip(_SPACE)
    comma = "" if "," in _pieces(behind) else ","
    return text[:end] + comma + behind + added + text[end + len(behind) :]


def has_comments(text: str, name: str) -> bool:
    """Whether there are some inside of that member, which would be lost with its change."""
    return any(piece.startswith(_COMMENTS) for inside in _values(text, name) for piece in _pieces(inside))


def has_duplicates(text: str, name: str) -> bool:
    """Whether one object inside of that member has a name twice, of which only the last is read."""
    counts: list[bool] = []

    def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counts.append(len(dict(pairs)) < len(pairs))
        return dict(pairs)

    for inside in _values(text, name):
        json.loads("".join(_plain(inside)), object_pairs_hook=read_object)
    return any(counts)


def _values(text: str, name: str) -> list[str]:
    members, _ = _members(text) if text.strip() else ([], 0)
    return [text[one.value : one.end] for one in members if one.name == name]


def _without(text: str, members: list[Member], place: int) -> str:
    if place + 1 < len(members):
        return text[: members[place].begin] + text[members[place + 1].begin :]
    if place:
        before = members[place - 1].end
        between = "".join(piece for piece in _pieces(text[before : members[place].begin]) if piece != ",")
        return text[:before] + between.rstrip(_SPACE) + text[members[place].end :]
    return text[: members[place].begin].rstrip(_SPACE) + text[members[place].end :].removeprefix(",").lstrip(_SPACE)


def _indent(text: str) -> str:
    second = next((line for line in text.splitlines()[1:] if line.strip()), "  ")
    return second[: len(second) - len(second.lstrip())] or "  "


def _members(text: str) -> tuple[list[Member], int]:
    """Those of the outermost object, and where it closes."""
    members: list[Member] = []
    depth, at, begin, value, end = 0, 0, 0, 0, 0
    for piece in _pieces(text):
        is_filling = piece[0] in _SPACE or piece.startswith(_COMMENTS)
        if depth == 1 and piece[0] == '"' and not begin:
            begin = at
        elif depth == 1 and piece == ":":
            value = -1
        elif value == -1 and not is_filling:
            value = at
        if depth == 1 and piece in (",", "}") and begin:
            members.append(Member(json.loads(text[begin : _string_end(text, begin)]), begin, value, end))
            begin = value = 0
        depth += (piece in ("{", "[")) - (piece in ("}", "]"))
        if depth == 0 and piece == "}":
            return members, at
        at += len(piece)
        if not is_filling:
            end = at
    raise NotJson("not an object")


def _plain(text: str) -> Iterator[str]:
    """Without comments, and without a comma before what closes."""
    waiting = ""
    for piece in _pieces(text):
        if piece.startswith(_COMMENTS):
            continue
        if piece == ",":
            waiting = piece
            continue
        if piece[0] not in _SPACE:
            yield waiting if piece not in ("}", "]") else ""
            waiting = ""
        yield piece
    yield waiting


def _pieces(text: str) -> Iterator[str]:
    """Texts, signs, comments, and what stands between them."""
    at = 0
    while at < len(text):
        end = _piece_end(text, at)
        yield text[at:end]
        at = end


def _piece_end(text: str, at: int) -> int:
    if text[at] == '"':
        return _string_end(text, at)
    if text.startswith("//", at):
        return at + len(text[at:].split("\n", 1)[0])
    if text.startswith("/*", at):
        closed = text.find("*/", at + 2)
        return len(text) if closed < 0 else closed + 2
    if text[at] in '{}[],:"' or text[at] == "/":
        return at + 1
    is_space, end = text[at] in _SPACE, at + 1
    while end < len(text) and text[end] not in '{}[],:"/' and (text[end] in _SPACE) == is_space:
        end += 1
    return end


def _string_end(text: str, at: int) -> int:
    end = at + 1
    while end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    return min(end + 1, len(text))
