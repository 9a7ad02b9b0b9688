"""How a value of any form is shown to a person."""

import json
from collections.abc import Mapping
from typing import Any, cast

from interlock.domain.canonical import plain


def question_of(value: Any) -> str:
    """A sentence to show for a value of any form."""
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        for key in ("question", "message", "prompt", "description"):
            if isinstance(given.get(key), str) and given[key].strip():
                return given[key]
    return text_of(value)


def options_of(value: Any) -> list[str]:
    options: Any = cast("Mapping[str, Any]", value).get("options") if isinstance(value, Mapping) else None
    if not isinstance(options, list):
        return []
    items = cast("list[Any]", options)
    return cast("list[str]", items) if all(isinstance(item, str) and item.strip() for item in items) else []


def text_of(value: Any) -> str:
    if isinstance(value, str):
        return value if value.strip() else "?"
    return json.dumps(plain(value), ensure_ascii=False, indent=2)
