"""Values that people let be kept, for the owner and agent that they were given to."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class SavedSecret:
    """What may be told of a saved value: everything but the value."""

    id: str
    owner_id: str
    agent: str
    name: str
    sensitive: bool
    request_id: str
    by_name: str
    created_at: datetime
    updated_at: datetime


def answerable_from(fields: list[Mapping[str, Any]], saved: Mapping[str, SavedSecret]) -> list[str] | None:
    """The names that answer an ask for these fields, or None where a person has to be asked.

    A value that was given in confidence answers only a field that is asked for in confidence: else an agent could have
    it shown by asking for it once more as something that everybody may see.
    """
    names: list[str] = []
    for field in fields:
        kept = saved.get(field["name"])
        if kept is None:
            if field["required"]:
                return None
            continue
        if kept.sensitive and not field["sensitive"]:
            return None
        names.append(field["name"])
    return names or None
