"""Time, injected: nothing in the core asks the system for it."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, in UTC, with its zone."""
        ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)
