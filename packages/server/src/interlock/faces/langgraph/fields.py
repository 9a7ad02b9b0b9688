"""What clients send: JSON under any content type. Unknown fields are ignored, and null counts as absent."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import parse_qsl

from fastapi import Request

from interlock.domain.json_value import JsonObject
from interlock.domain.kinds.free_answers import read_json
from interlock.faces.http.sockets import read_message
from interlock.faces.langgraph.errors import Refusal, invalid

Fields = Mapping[str, Any]


async def json_of(request: Request) -> Any:
    """The body, an empty object where there is none. The guard has bounded its size and its depth."""
    text = await request.body()
    if not text.strip():
        return {}
    try:
        return read_json(text.decode(json.detect_encoding(text)))
    except (ValueError, RecursionError) as error:
        raise invalid("the body is not JSON") from error


async def body_of(request: Request) -> JsonObject:
    given = await json_of(request)
    if not isinstance(given, dict):
        raise invalid("the body is not a JSON object")
    return {name: value for name, value in cast("JsonObject", given).items() if value is not None}


def text_of(fields: Fields, name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise invalid(f"{name} must be a text")
    return value


def object_of(fields: Fields, name: str) -> JsonObject | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, dict):
        raise invalid(f"{name} must be an object")
    return cast("JsonObject | None", value)


def texts_of(fields: Fields, name: str) -> Sequence[str] | None:
    value: Any = fields.get(name)
    if value is None:
        return None
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in items):
        raise invalid(f"{name} must be a list of texts")
    return cast("list[str]", items)


def number_of(fields: Fields, name: str, default: int, least: int, most: int) -> int:
    value = fields.get(name, default)
    if type(value) is not int or not least <= value <= most:
        raise invalid(f"{name} must be a number from {least} to {most}")
    return value


def choice_of(fields: Fields, name: str, default: str, *known: str) -> str:
    value = text_of(fields, name) or default
    if value not in known:
        raise invalid(f"{name} must be one of {', '.join(known)}")
    return value


def query_of(request: Request) -> JsonObject:
    """Numbers as such, and a name that comes more than once as a list."""
    found: JsonObject = {}
    for name, text in parse_qsl(request.url.query, keep_blank_values=True):
        value: Any = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text
        if name in found:
            found[name] = [*(found[name] if isinstance(found[name], list) else [found[name]]), value]
        else:
            found[name] = value
    return found


def is_on(value: Any) -> bool:
    return value in (1, True, "1", "true", "True")


def not_offered(what: str) -> Refusal:
    return Refusal(422, "not_supported", what)


__all__ = [
    "Fields",
    "body_of",
    "choice_of",
    "is_on",
    "not_offered",
    "number_of",
    "object_of",
    "query_of",
    "read_message",
    "text_of",
    "texts_of",
]
