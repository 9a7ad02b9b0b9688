"""Values that people let be kept, for whom they were given to: an owner's hosted agent, or one key elsewhere."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from interlock.domain.kinds.env_var import Variable


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
    asker_id: str | None = None
    """Of an agent that runs elsewhere: the key it was given to. Another key may have the agent's name too."""


def answerable_from(fields: Iterable[Variable], saved: Mapping[str, SavedSecret]) -> list[str] | None:
    """The names that answer an ask for these fields, or None where a person has to be asked.

    A value that was given in confidence answers only a field that is asked for in confidence: else an agent could have
    it shown by asking for it once more as something that everybody may see.
    """
    names: list[str] = []
    for field in fields:
        secret = saved.get(field.name)
        if secret is None:
            if field.required:
                return None
            continue
        if secret.sensitive and not field.sensitive:
            return None
        names.append(field.name)
    return names or None
