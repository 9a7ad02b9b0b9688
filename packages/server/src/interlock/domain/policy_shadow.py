"""A version in shadow: what it would have said of each ask, beside what counted then. It decides nothing."""

from dataclasses import dataclass
from datetime import datetime

from interlock.domain.policy import Ruling


@dataclass(frozen=True, slots=True)
class Word:
    """What one version says of an ask."""

    ruling: Ruling
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class ShadowWord:
    version: int
    request_id: str
    thread_id: str
    word: Word
    failed: bool
    """Whether rules could not be evaluated: then it is at least an ask."""
    active_version: int | None
    active: Word
    at: datetime


@dataclass(frozen=True, slots=True)
class ShadowCell:
    active: Ruling
    shadow: Ruling
    count: int
    failed: int
    """Of how many rules could not be evaluated."""
    since: datetime
    """When the first of them was asked."""

    @property
    def differs(self) -> bool:
        return self.active is not self.shadow


@dataclass(frozen=True, slots=True)
class ShadowSample:
    request_id: str
    tool: str
    agent: str
    at: datetime
    active_version: int | None
    active_rule: str | None
    rule: str | None
    failed: bool
