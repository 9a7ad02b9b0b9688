"""Free JSON: what a tool is called with, what a graph hands over, what a client says of itself."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

JsonValue = Any
JsonObject = dict[str, Any]

ABSENT: Final[JsonValue] = object()
"""Stands for a value that is not there, where null is one."""


def with_numbers_of(before: JsonValue, after: JsonValue) -> JsonValue:
    """`after`, in which a number that is as it was before stays a float: a browser spells 4200.0 as 4200."""
    if isinstance(before, float) and isinstance(after, int) and not isinstance(after, bool):
        return before if before.is_integer() and int(before) == after else after
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        known = cast("Mapping[str, JsonValue]", before)
        members = cast("Mapping[str, JsonValue]", after)
        return {name: with_numbers_of(known.get(name), value) for name, value in members.items()}
    if isinstance(before, list) and isinstance(after, list):
        return _items_with_numbers_of(cast("list[JsonValue]", before), cast("list[JsonValue]", after))
    return after


def _items_with_numbers_of(before: Sequence[JsonValue], after: Sequence[JsonValue]) -> list[JsonValue]:
    """By their places; where items came or went, by what is equal."""
    if len(before) == len(after):
        return [with_numbers_of(one, other) for one, other in zip(before, after, strict=True)]
    return [with_numbers_of(next((one for one in before if one == item), None), item) for item in after]


def member(value: JsonValue, *path: str) -> JsonValue:
    """What is found there in nested objects; None where there is nothing."""
    for name in path:
        value = cast("JsonObject", value).get(name) if isinstance(value, dict) else None
    return value


def object_at(value: JsonValue, *path: str) -> JsonObject:
    """The same, for an object: an empty one where there is none."""
    found = member(value, *path)
    return cast("JsonObject", found) if isinstance(found, dict) else {}
