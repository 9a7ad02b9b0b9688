"""What a graph handed over with an interrupt: a title where it names one, options, and all the rest as it is.

A body keeps it three times, for three kinds of readers: `value` is the whole, `title` and `details` are its parts for
those who can show structured data, and the text of a question has all of it for those who show only that.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from interlock.domain.canonical import plain

_TITLES = ("question", "message", "prompt", "description")
_UNREADABLE = "?"


def parts_of(value: Any, *, offers: bool = False) -> dict[str, Any]:
    """`title`, `details` where there is more than that, and the `value` itself.

    Where the value `offers` what may be answered, its options are shown as such.
    """
    whole = plain(value)
    if isinstance(whole, str):
        return {"title": whole if whole.strip() else _UNREADABLE, "value": whole}
    if not isinstance(whole, dict):
        return {"title": "", "details": whole, "value": whole}
    given = cast("dict[str, Any]", whole)
    named = next((key for key in _TITLES if isinstance(given.get(key), str) and given[key].strip()), None)
    told = {named, "options"} if offers and options_of(given) else {named}
    rest = {key: part for key, part in given.items() if key not in told}
    if named is None:
        # Something has to be there to be read.
        return {"title": "", "details": rest or whole, "value": whole}
    return {"title": given[named], **details(rest), "value": whole}


def options_of(value: Any) -> list[str]:
    """What the graph itself offers as answers, where that is a list of texts."""
    options: Any = cast("Mapping[str, Any]", value).get("options") if isinstance(value, Mapping) else None
    if not isinstance(options, list):
        return []
    items = cast("list[Any]", options)
    return cast("list[str]", items) if all(isinstance(item, str) and item.strip() for item in items) else []


def details(rest: Mapping[str, Any]) -> dict[str, Any]:
    """For a body: what else was handed over, where there is something."""
    return {"details": plain(dict(rest))} if rest else {}


def whole_text(body: Mapping[str, Any], said: str | None = None) -> str:
    """All that was handed over, for who shows a text; `said` stands in for the title."""
    title = body.get("title", "") if said is None else said
    shown = json.dumps(body["details"], ensure_ascii=False, indent=2) if "details" in body else ""
    return "\n\n".join(part for part in (title, shown) if part)
