"""One clock for all servers on a database: its own, for theirs may differ by minutes."""

import time
from datetime import UTC, datetime, timedelta

from interlock.ports.clock import Clock
from interlock.ports.store import Transaction

COMPARED_EVERY = 5.0
"""Seconds: the system's clock may be stepped while the server runs."""
TOLERANCE = timedelta(seconds=1)
"""Of clocks that are closer than this nothing is corrected: time would jump to and fro with each look."""
SLOW = timedelta(milliseconds=500)
"""A look that took longer says too little."""


class SharedClock:
    """A server's clock, corrected by how far the database's is ahead of it."""

    def __init__(self, own: Clock) -> None:
        self._own = own
        self._ahead = timedelta()
        self._compared_at: float | None = None

    def now(self) -> datetime:
        return self._own.now() + self._ahead

    async def compare(self, tx: Transaction) -> None:
        """With the database's, at the beginning of a transaction; not more often than is of use."""
        if self._compared_at is not None and time.monotonic() - self._compared_at < COMPARED_EVERY:
            return
        before = self._own.now()
        there = datetime.fromtimestamp(await tx.servers.moment(before) / 1000, UTC)
        took = self._own.now() - before
        if timedelta() <= took < SLOW:
            self._compared_at = time.monotonic()
            ahead = there - before
            if abs(ahead - self._ahead) > TOLERANCE:
                self._ahead = ahead
