"""Live events. The bus carries typed events and knows no wire format; losing it costs latency, never truth."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from interlock.domain.event import Call, Event, Live, Looking


class Subscription(Protocol):
    async def next(self, timeout: float) -> Live | None:
        """The next item, or None when none came in that many seconds.

        A subscriber that is too slow loses items: `lagged` turns true, and the log must be read to catch up.
        """
        ...

    def take_lagged(self) -> bool:
        """Whether items were lost since the last call."""
        ...

    def wake(self) -> None:
        """Let `next` return now, with None where nothing came."""
        ...


Notice = Event | Looking
"""What is told to inboxes: entries of the logs that are about requests, and who looks at one."""


class NoticeSubscription(Protocol):
    async def next(self, timeout: float) -> Notice | None:
        """The next notice, or None when none came in that many seconds."""
        ...

    def take_lagged(self) -> bool:
        """Whether notices were lost since the last call: the list of what is pending must be read anew."""
        ...


class CallSubscription(Protocol):
    async def next(self, timeout: float) -> Call | None:
        """The next call, or None when none came in that many seconds."""
        ...


class Bus(Protocol):
    def notify(self, notices: Sequence[Notice]) -> None:
        """Hand notices to every inbox, in order; never waits, never raises."""
        ...

    def notices(self) -> AbstractAsyncContextManager[NoticeSubscription]:
        """Every notice after the block was entered, of all threads."""
        ...

    def publish(self, thread_id: str, items: Sequence[Live]) -> None:
        """Hand items to the thread's subscribers, in order; never waits, never raises."""
        ...

    def call(self, calls: Sequence[Call]) -> None:
        """Tell every worker, in order; never waits, never raises."""
        ...

    def calls(self) -> AbstractAsyncContextManager[CallSubscription]:
        """Every call after the block was entered."""
        ...

    def subscribe(self, thread_id: str) -> AbstractAsyncContextManager[Subscription]:
        """Everything published after the block was entered; nothing from before."""
        ...
