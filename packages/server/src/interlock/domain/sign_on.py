"""Single sign-on: identities at a provider, what one says of a person, and the role that follows from groups."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import cast
from urllib.parse import urlsplit

from interlock.domain.principal import Role

LONGEST_SUBJECT = 255
LONGEST_LABEL = 200
MOST_GROUPS = 1_000
LONGEST_GROUP = 256


@dataclass(frozen=True, slots=True)
class Identity:
    """An account at the provider that signs somebody in here: known by issuer and subject, and by nothing else."""

    id: str
    user_id: str
    issuer: str
    subject: str
    label: str
    """What the provider calls the person; to be displayed only."""
    groups: tuple[str, ...]
    """Of the last sign-in."""
    groups_left_out: bool
    """Whether the provider sent none because there are too many."""
    linked_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SignOnClaims:
    """What a provider says of who has just signed in there."""

    issuer: str
    subject: str
    names: tuple[str, ...]
    """The best one first."""
    groups: tuple[str, ...] = ()
    groups_left_out: bool = False

    @property
    def label(self) -> str:
        return next(iter(self.names), self.subject)[:LONGEST_LABEL]


@dataclass(frozen=True, slots=True)
class RoleRule:
    """Who is in the group has the role; a reviewer, for the agent."""

    role: Role
    group: str
    agent: str | None = None


def read_role_rules(words: Iterable[str]) -> tuple[RoleRule, ...]:
    """`admin=GROUP` or `reviewer:AGENT=GROUP` each; `ValueError` says what is wrong."""
    return tuple(_read_role_rule(word) for word in words)


def _read_role_rule(word: str) -> RoleRule:
    left, _, group = word.partition("=")
    name, _, agent = left.partition(":")
    is_reviewer = name == Role.REVIEWER
    if not group or name not in (Role.ADMIN, Role.REVIEWER) or is_reviewer != bool(agent):
        raise ValueError(f"{word} is no rule: use admin=GROUP or reviewer:AGENT=GROUP")
    return RoleRule(Role(name), group, agent or None)


def role_of(rules: Iterable[RoleRule], groups: Collection[str]) -> tuple[Role, tuple[str, ...]]:
    """The highest role that the groups give, and for a reviewer the agents; an owner where they give none."""
    given = [rule for rule in rules if rule.group in groups]
    if any(rule.role is Role.ADMIN for rule in given):
        return Role.ADMIN, ()
    agents = tuple(sorted({rule.agent for rule in given if rule.agent is not None}))
    return (Role.REVIEWER, agents) if agents else (Role.OWNER, ())


def groups_of(given: object) -> tuple[str, ...] | None:
    """The names in a claim; None where there are more than are taken."""
    found = cast("list[object]", given) if isinstance(given, list) else [given]
    names = {name for name in found if isinstance(name, str) and 0 < len(name) <= LONGEST_GROUP}
    return tuple(sorted(names)) if len(names) <= MOST_GROUPS else None


def local_path(text: str) -> str | None:
    """A path of this server's pages; None for anything that a browser might take for another place."""
    is_plain = text.isascii() and text.isprintable() and "\\" not in text and " " not in text
    if not is_plain or not text.startswith("/") or text.startswith("//") or len(text) > 2_000:
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    # A browser takes the dots out: "/.//host" is the path "//host" to it.
    is_odd = "//" in parts.path or any(one in (".", "..") for one in parts.path.split("/"))
    return None if parts.scheme or parts.netloc or is_odd else text
