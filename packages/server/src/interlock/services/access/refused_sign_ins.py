"""Sign-ins that failed, on their way to the audit trail, which nobody may flood.

The first one of an account from an address is recorded at once; those that follow are counted, and recorded as one
entry in the next hour, or when the server stops. So many accounts and addresses are told apart in that time; the rest
is counted together. Of a server that is killed the count is lost, and the first entry is not.
"""

from dataclasses import dataclass
from datetime import datetime

TOLD_APART = 100
"""Accounts and addresses in an hour."""


@dataclass(frozen=True, slots=True)
class Attempt:
    how: str
    """`password` or `link`."""
    account: str | None
    """None where there is none of that name, which is not kept: people type a password there too."""
    address: str | None
    """None for all that are not told apart."""


@dataclass(slots=True)
class AttemptCount:
    since: datetime
    more: int = 0


class RefusedSignIns:
    """Of one server."""

    def __init__(self) -> None:
        self._counts: dict[Attempt, AttemptCount] = {}

    def add(self, attempt: Attempt, at: datetime) -> Attempt | None:
        """Count one; what is to be recorded at once, if it is the first."""
        if attempt not in self._counts and len(self._counts) >= TOLD_APART:
            attempt = Attempt(attempt.how, None, None)
        if attempt not in self._counts:
            self._counts[attempt] = AttemptCount(at)
            return attempt
        self._counts[attempt].more += 1
        return None

    def take(self) -> list[tuple[Attempt, AttemptCount]]:
        """What was counted beyond the first of each; all of it begins again."""
        counted, self._counts = self._counts, {}
        return [(attempt, count) for attempt, count in counted.items() if count.more]
