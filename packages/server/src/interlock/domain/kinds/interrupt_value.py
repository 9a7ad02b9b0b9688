"""What a graph handed over with an interrupt: a title where it names one, options, and all the rest as it is.

A body keeps it three times, for three kinds of readers: `value` is the whole, `title` and `details` are its parts for
those who can show structured data, and the text of a question has all of it for those who show only that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from interlock.domain.canonical import plain
from interlock.domain.json_value import ABSENT, JsonObject, JsonValue
from interlock.domain.kinds.kind import with_details

_TITLES = ("question", "message", "prompt", "description")
_UNREADABLE = "?"


@dataclass(frozen=True, slots=True)
class InterruptParts:
    title: str
    value: JsonValue
    """The whole."""
    details: JsonValue = ABSENT
    """What there is beside the title."""

    @classmethod
    def of(cls, value: JsonValue, *, offers: bool = False) -> "InterruptParts":
        """Where the value `offers` what may be answered, its options are shown as such."""
        whole = plain(value)
        if isinstance(whole, str):
            return cls(whole if whole.strip() else _UNREADABLE, whole)
        if not isinstance(whole, dict):
            return cls("", whole, whole)
        given = cast("JsonObject", whole)
        title_key = next((key for key in _TITLES if isinstance(given.get(key), str) and given[key].strip()), None)
        elsewhere = {title_key, "options"} if offers and options_of(given) else {title_key}
        rest = {key: part for key, part in given.items() if key not in elsewhere}
        if title_key is None:
            # Something has to be there to be read.
            return cls("", whole, rest or whole)
        return cls(given[title_key], whole, details_of(rest))

    @property
    def text(self) -> str:
        """All that was handed over, for who shows one text."""
        return with_details(self.title, self.details)


def options_of(value: JsonValue) -> list[str]:
    """What the graph itself offers as answers, where that is a list of texts."""
    options: JsonValue = cast("Mapping[str, JsonValue]", value).get("options") if isinstance(value, Mapping) else None
    if not isinstance(options, list):
        return []
    items = cast("list[JsonValue]", options)
    return cast("list[str]", items) if all(isinstance(item, str) and item.strip() for item in items) else []


def details_of(rest: Mapping[str, JsonValue]) -> JsonValue:
    """For a body: what else was handed over, where there is something."""
    return plain(dict(rest)) if rest else ABSENT
