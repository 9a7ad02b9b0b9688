"""Groups of people, who a request is put to, what people say of it, and who is away."""

import re
from dataclasses import dataclass
from datetime import datetime

from interlock.domain.errors import FieldError, InvalidInput

LONGEST_NAME = 64
LONGEST_COMMENT = 4_000
MOST_MEMBERS = 1_000
_NAME = re.compile(r"[\w][\w .-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    source: str
    """`local`: people are added here. `oidc`: single sign-on brings them."""
    created_at: datetime
    members: tuple[str, ...] = ()
    """Ids of people."""


def check_group_name(name: str) -> str:
    """Plain letters: two groups must not look alike in a rule."""
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name) or name != name.strip():
        message = f"a group's name is 1 to {LONGEST_NAME} letters, digits, dots, dashes and spaces"
        raise InvalidInput(message, [FieldError("name", "form", message)])
    return name


@dataclass(frozen=True, slots=True)
class Candidate:
    """Somebody that a request is put to: a group or a person, or whoever may answer on the conversation."""

    request_id: str
    who: str
    level: int
    """0: by the rule or the ask itself; a level of the escalation, or the level at which somebody passed it on."""
    asked_at: datetime
    """When the request was asked: lists are in that order."""
    is_added: bool = False
    """By a level or an admin: they may fill any place."""


@dataclass(frozen=True, slots=True)
class Comment:
    id: str
    request_id: str
    by_id: str
    by_name: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Away:
    """From when until when somebody is away, that moment not included, and who is asked in their place."""

    person_id: str
    since: datetime
    until: datetime
    to_id: str | None = None

    def covers(self, at: datetime) -> bool:
        return self.since <= at < self.until
