"""`extract`: parts of what a thread shows, each by a path like `values.messages[-1].content`."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from interlock.domain.json_value import JsonObject, JsonValue
from interlock.faces.langgraph.errors import invalid
from interlock.faces.langgraph.fields import Fields, object_of

MOST_PATHS = 10
_PATH = re.compile(r"[^.\[\]]+(\.[^.\[\]]+|\[-?\d{1,9}\])*")
_STEP = re.compile(r"([^.\[\]]+)|\[(-?\d+)\]")

Path = Sequence[str | int]


def paths_of(body: Fields) -> Mapping[str, Path]:
    given = object_of(body, "extract") or {}
    if len(given) > MOST_PATHS:
        raise invalid(f"extract must have {MOST_PATHS} paths at the most")
    return {name: _path(name, text) for name, text in given.items()}


def extract(view: JsonObject, paths: Mapping[str, Path]) -> JsonObject:
    """Null for what is not there."""
    return {name: _at(view, path) for name, path in paths.items()}


def _path(name: str, text: JsonValue) -> Path:
    if not isinstance(text, str) or not _PATH.fullmatch(text):
        raise invalid(f"extract.{name} must be a path like values.messages[-1].content")
    return [key or int(place) for key, place in _STEP.findall(text)]


def _at(value: JsonValue, path: Path) -> JsonValue:
    for step in path:
        match value, step:
            case dict(), str():
                value = cast("JsonObject", value).get(step)
            case list(), int() if -len(items := cast("list[JsonValue]", value)) <= step < len(items):
                value = items[step]
            case _:
                return None
    return value
