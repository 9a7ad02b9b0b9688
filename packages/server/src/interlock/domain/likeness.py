"""How a call differs from one that was approved, and what several have in common, as a rule that allows no more."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import cast

from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.policy_document import LONGEST_CONDITION, LONGEST_NAME
from interlock.domain.risk import LOWEST

FEWEST_CALLS = 3
"""Of fewer it cannot be said what they have in common."""
_PATH_NAMES = ("path", "file", "filename", "folder", "directory", "dir")
_PART = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_BEYOND = re.compile(r"[~$%]|[A-Za-z][A-Za-z0-9+.-]*:")
"""How a path begins that means something else where it is used."""
_WIDEST_INTEGER = 2**63


@dataclass(frozen=True, slots=True)
class Calls:
    """Alike calls that people approved as they stood."""

    tool: str
    agent: str
    owner: str
    is_outside: bool
    is_low: bool
    """Whether none of them was riskier than low."""
    args: Sequence[JsonObject]


@dataclass(frozen=True, slots=True)
class DraftRule:
    name: str
    text: str
    """As TOML."""
    fields: JsonObject
    """The same as JSON."""
    free: tuple[str, ...]
    """The arguments that may be anything, because they were different each time."""


class Change(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Difference:
    """Of one argument."""

    name: str
    change: Change
    before: tuple[str, ...] = ()
    """Its value then, spelled as JSON, line by line; nothing where it was not there."""


def differences(before: JsonObject, now: JsonObject) -> list[Difference]:
    """What another call has besides, has no longer, or has with another value."""
    found: list[Difference] = []
    for name in sorted({*before, *now}):
        if name not in before:
            found.append(Difference(name, Change.ADDED))
        elif name not in now or not _is_same(before[name], now[name]):
            change = Change.CHANGED if name in now else Change.REMOVED
            spelling = json.dumps(before[name], indent=2, sort_keys=True, ensure_ascii=False)
            found.append(Difference(name, change, tuple(spelling.split("\n"))))
    return found


def draft_rule(calls: Calls, names: Sequence[str]) -> DraftRule | None:
    """A rule for these calls, under a name that none of `names` is. None where it would allow more than is known.

    That is so where nothing in their arguments was the same, and where a condition cannot say what was.
    """
    if len(calls.args) < FEWEST_CALLS:
        return None
    try:
        fixed, free = _arguments(calls.args)
        if free and not fixed:
            return None
        every = sorted({name for args in calls.args for name in args})
        allowed = f"args.all(name, name in {_literal(every)})" if every else "args.size() == 0"
        whose = [f"{name} == {_literal(value)}" for name, value in (("agent", calls.agent), ("owner", calls.owner))]
        when = " && ".join([*whose, "outside" if calls.is_outside else "!outside", allowed, *fixed])
    except _Unspeakable:
        return None
    if len(when) > LONGEST_CONDITION or not calls.tool.isprintable() or calls.tool != calls.tool.strip():
        return None
    name = _name(f"{calls.tool}, as approved before", names)
    fields: JsonObject = {"name": name, "tools": [calls.tool], "when": when, "then": "allow"}
    # A permission reaches to medium by itself.
    if calls.is_low:
        fields["max_risk"] = LOWEST
    lines = [f"{key} = {_toml(value)}" for key, value in fields.items()]
    notes = [f"# {json.dumps(one)} may be anything" for one in free]
    return DraftRule(name, "\n".join([*notes, "[[rule]]", *lines, ""]), fields, free)


def with_rule(text: str, rule: DraftRule) -> str:
    """A policy with the rule at its end, where each rule that stands in it already goes before."""
    if text.lstrip().startswith("{"):
        policy = cast("JsonObject", json.loads(text))
        policy["rule"] = [*policy.get("rule", []), rule.fields]
        return json.dumps(policy, indent=2, ensure_ascii=False)
    return f"{text.rstrip()}\n\n{rule.text}" if text.strip() else rule.text


class _Unspeakable(Exception):
    """For what a condition cannot say."""


def _arguments(calls: Sequence[JsonObject]) -> tuple[list[str], tuple[str, ...]]:
    """The conditions, and the arguments that have none."""
    fixed: list[str] = []
    free: list[str] = []
    first = calls[0]
    for name in sorted({name for args in calls for name in args}):
        at = f"args[{_literal(name)}]"
        if all(name in args and _is_same(args[name], first.get(name)) for args in calls):
            fixed.append(f"{at} == {_literal(first[name])}")
        elif folder := _folder(name, [args.get(name) for args in calls]):
            fixed.append(f"under({at}, {_literal(folder)})")
        else:
            free.append(name)
    return fixed, tuple(free)


def _is_same(one: JsonValue, other: JsonValue) -> bool:
    """As JSON has it: to Python true is 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _folder(name: str, values: Sequence[JsonValue]) -> str | None:
    """The folder that all of these are in, where the argument is a path by its name: a command has slashes, too."""
    if _PART.split(name)[-1].lower() not in _PATH_NAMES:
        return None
    parents = [_parents(value) for value in values]
    common = parents[0]
    for other in parents[1:]:
        common = [one for one, at in zip(common, other, strict=False) if one == at]
    folder = str(common[-1]) if common else "."
    return folder if folder not in (".", "/") else None


def _parents(path: JsonValue) -> list[PurePosixPath]:
    """The folders that it is in, the outermost first; none where it is no plain path."""
    if not isinstance(path, str) or not path or not path.isprintable() or path != path.strip():
        return []
    if "\\" in path or _BEYOND.match(path) or ".." in PurePosixPath(path).parts or path.startswith("//"):
        return []
    return [*reversed(PurePosixPath(path).parents)]


def _literal(value: JsonValue) -> str:
    match value:
        case None | bool():
            return json.dumps(value)
        case str():
            return f'"{"".join(map(_character, value))}"'
        case int() if -_WIDEST_INTEGER <= value < _WIDEST_INTEGER:
            return str(value)
        case float() if value == value and abs(value) != float("inf"):
            return repr(value)
        case list():
            return f"[{', '.join(_literal(one) for one in cast('list[JsonValue]', value))}]"
        case dict():
            pairs = [f"{_literal(name)}: {_literal(one)}" for name, one in cast("JsonObject", value).items()]
            return f"{{{', '.join(pairs)}}}"
        case _:
            raise _Unspeakable


def _character(one: str) -> str:
    if one in '"\\':
        return f"\\{one}"
    if one.isprintable():
        return one
    number = ord(one)
    # No NUL and no half of a pair reaches the engine.
    if number == 0 or 0xD800 <= number <= 0xDFFF:
        raise _Unspeakable
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def _toml(value: JsonValue) -> str:
    """Printable texts and lists of them: a JSON text is one of TOML, too."""
    if isinstance(value, str) and "'" not in value and '"' in value:
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)


def _name(wanted: str, names: Sequence[str]) -> str:
    short = wanted[: LONGEST_NAME - 6].strip()
    return next(one for one in (short, *(f"{short} {number}" for number in range(2, 9999))) if one not in names)
