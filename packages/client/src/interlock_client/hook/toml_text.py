"""A settings file in TOML as text: our hooks are put in and taken out; all other characters stay, comments too."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlock_client.hook.call import list_of, object_of
from interlock_client.hook.installation import Entry, is_all_ours, is_ours

_PIECE = re.compile(
    r'"""(?:\\[\s\S]|(?!""")[\s\S])*"{3,5}'
    r"|'''(?:(?!''')[\s\S])*'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*"
    r"|[\n\[\]{}]"
    r"""|[^"'#\n\[\]{}]+"""
)


class NotToml(ValueError):
    """It cannot be read."""


def read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotToml(str(error)) from error


@dataclass(frozen=True)
class Statement:
    """A header or a key with its value, to the end of its line; or a line that has neither."""

    text: str
    event: str = ""
    """Of the hooks, which it belongs to; none: it is about something else."""
    group: int | None = None
    """None: all of them, in one value."""
    handler: int | None = None

    @property
    def comments(self) -> str:
        return "".join(f"{piece}\n" for piece in _PIECE.findall(self.text) if piece.startswith("#"))


def replace_entries(text: str, entries: Mapping[str, Entry]) -> str:
    """With these in the place of ours; at the end where we had none for the event."""
    hooks = object_of(read(text).get("hooks")) or {}
    left = dict(entries)
    text_after, is_ours_now, has_comment = "", False, False
    for one in _statements(text):
        is_ours_now = _is_ours(one, hooks)
        if not is_ours_now:
            text_after, has_comment = text_after + one.text, False
            continue
        if one.event in left and one.group is not None and one.handler is None:
            text_after += _to_toml(one.event, left.pop(one.event)) + "\n"
        # Lines between comments are not ours.
        is_empty = not one.text.strip()
        text_after += one.text if is_empty and has_comment else one.comments
        has_comment = (is_empty and has_comment) or bool(one.comments)
    if is_ours_now:
        # The line that was put before ours.
        text_after = text_after.rstrip("\n") + "\n" if text_after.strip() else ""
    for event, entry in left.items():
        between = "\n" if text_after.endswith("\n") else "\n\n"
        text_after += (between if text_after else "") + _to_toml(event, entry)
    return text_after


def _is_ours(one: Statement, hooks: Mapping[str, Any]) -> bool:
    groups = list_of(hooks.get(one.event)) if one.event else []
    if one.group is None:
        return bool(groups) and all(map(is_all_ours, groups))
    group = groups[one.group]
    if is_all_ours(group) or one.handler is None:
        return is_all_ours(group)
    return is_ours(object_of(list_of(group.get("hooks"))[one.handler]) or {})


def _to_toml(event: str, entry: Entry) -> str:
    handlers = [f"\n[[hooks.{event}.hooks]]\n{_pairs(one)}" for one in entry["hooks"]]
    pairs = _pairs({name: value for name, value in entry.items() if name != "hooks"})
    return f"[[hooks.{event}]]\n{pairs}{''.join(handlers)}"


def _pairs(values: Mapping[str, Any]) -> str:
    # Texts, numbers, true and false are written as in JSON.
    return "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())


def _statements(text: str) -> Iterator[Statement]:
    header: list[str] = []
    groups: dict[str, int] = {}
    handlers: dict[str, int] = {}
    for line in _lines(text):
        code = line.lstrip()
        if not code.startswith("["):
            # A key above the groups has all of an event, or of the hooks, in its value.
            is_above = not _event(header)
            event = _event([*header, *_path(line)]) if is_above else _event(header)
            yield Statement(line, event, *(() if is_above else (groups.get(event), _handler(header, handlers))))
            continue
        header = _path(line)
        event = _event(header)
        if code.startswith("[[") and header == ["hooks", event]:
            groups[event] = groups.get(event, -1) + 1
            handlers[event] = -1
        elif code.startswith("[[") and header == ["hooks", event, "hooks"]:
            handlers[event] = handlers.get(event, -1) + 1
        yield Statement(line, event, groups.get(event), _handler(header, handlers))


def _event(path: Sequence[str]) -> str:
    return path[1] if len(path) > 1 and path[0] == "hooks" else ""


def _handler(header: Sequence[str], handlers: Mapping[str, int]) -> int | None:
    return handlers.get(header[1]) if _event(header) and header[2:3] == ["hooks"] else None


def _lines(text: str) -> Iterator[str]:
    """Of statements: a value may go over several."""
    begin = depth = 0
    for piece in _PIECE.finditer(text):
        depth += (piece.group() in ("[", "{")) - (piece.group() in ("]", "}"))
        if piece.group() == "\n" and not depth:
            yield text[begin : piece.end()]
            begin = piece.end()
    if begin < len(text):
        yield text[begin:]


def _path(line: str) -> list[str]:
    """The names in a header, or of a key; where its value is a table of one key, that too."""
    names: list[str] = []
    inner: Any = tomllib.loads(line)
    while table := object_of(next(iter(list_of(inner)), inner)):
        if len(table) > 1:
            break
        [name] = table
        names.append(name)
        inner = table[name]
    return names
