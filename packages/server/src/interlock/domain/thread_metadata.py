"""What clients note on a thread: an object of theirs, which is searched and shown, and means nothing to the server."""

import json
from collections.abc import Mapping
from typing import cast

from interlock.domain.errors import FieldError, InvalidInput
from interlock.domain.json_value import JsonObject, JsonValue

LARGEST = 16_384
"""In bytes of JSON: it is read with every thread of a list."""


def check_metadata(metadata: Mapping[str, JsonValue]) -> JsonObject:
    """The object, if it can be kept; else `InvalidInput`."""
    try:
        size = len(json.dumps(metadata, allow_nan=False))
    except (ValueError, TypeError) as error:
        raise _refusal("form", f"metadata must be JSON: {error}") from error
    if size > LARGEST:
        raise _refusal("size", f"metadata must have at most {LARGEST} bytes of JSON; this has {size}")
    return dict(metadata)


def merge(metadata: Mapping[str, JsonValue], more: Mapping[str, JsonValue]) -> JsonObject:
    """Key by key: what comes later counts. A null stays one."""
    return check_metadata({**metadata, **more})


def contains(value: JsonValue, part: JsonValue) -> bool:
    """Whether all of `part` is in the value: fields of an object in an object, elements of a list in a list."""
    if isinstance(part, dict):
        if not isinstance(value, dict):
            return False
        there = cast("JsonObject", value)
        fields = cast("JsonObject", part).items()
        return all(key in there and contains(there[key], one) for key, one in fields)
    if isinstance(part, list):
        elements = cast("list[JsonValue]", value) if isinstance(value, list) else []
        items = cast("list[JsonValue]", part)
        return isinstance(value, list) and all(any(contains(one, each) for one in elements) for each in items)
    # True and 1 are one to Python, and two to everybody else.
    return isinstance(value, bool) is isinstance(part, bool) and value == part


def _refusal(code: str, message: str) -> InvalidInput:
    return InvalidInput(message, [FieldError("metadata", code, message)])
