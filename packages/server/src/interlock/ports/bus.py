"""Live events. The bus carries typed events and knows no wire format; losing it costs latency, never truth."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from interlock.domain.event import Live


class Subscription(Protocol):
    async def next(self, timeout: float) -> Live | None:
        """The next item, or None when none came in that many seconds.

        A subscriber that is too slow loses items: `lagged` turns true, and the log must be read to catch up.
        """
        ...

    def take_lagged(self) -> bool:
        """Whether items were lost since the last call."""
        ...


class Bus(Protocol):
    def publish(self, thread_id: str, items: Sequence[Live]) -> None:
        """Hand items to the thread's subscribers, in order; never waits, never raises."""
        ...

    def subscribe(self, thread_id: str) -> AbstractAsyncContextManager[Subscription]:
        """Everything published after the block was entered; nothing from before."""
        ...
