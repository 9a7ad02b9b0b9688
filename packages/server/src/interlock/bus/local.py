"""The bus of a single process: bounded queues, one per follower."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from interlock import failpoints
from interlock.domain.event import Event, EventType, Live, Partial, Token

CAPACITY = 1_000
"""How many items wait for a follower before it counts as too slow and has to read the log."""

_ENDS_MESSAGE = (EventType.ASSISTANT_MESSAGE, EventType.RUN_ENDED, EventType.THREAD_DELETED)


class LocalSubscription:
    def __init__(self) -> None:
        self._items: deque[Live] = deque()
        self._arrived = asyncio.Event()
        self._lagged = False

    def offer(self, item: Live, so_far: Partial | None = None) -> None:
        """Queue an item. A follower that is too slow loses what waited, and has the text `so_far` in its place."""
        if len(self._items) >= CAPACITY:
            self._items.clear()
            self._lagged = True
            if isinstance(item, Token) and so_far is not None:
                item = so_far
        self._items.append(item)
        self._arrived.set()

    async def next(self, timeout: float) -> Live | None:
        if not self._items:
            self._arrived.clear()
            try:
                async with asyncio.timeout(timeout):
                    await self._arrived.wait()
            except TimeoutError:
                return None
        return self._items.popleft()

    def take_lagged(self) -> bool:
        lagged, self._lagged = self._lagged, False
        return lagged


class LocalBus:
    def __init__(self) -> None:
        self._subscriptions: dict[str, set[LocalSubscription]] = {}
        self._writing: dict[str, Partial] = {}

    def publish(self, thread_id: str, items: Sequence[Live]) -> None:
        if failpoints.is_on("bus.off"):
            return
        for item in items:
            self._remember(thread_id, item)
            for subscription in self._subscriptions.get(thread_id, ()):
                subscription.offer(item, self._writing.get(thread_id))

    @asynccontextmanager
    async def subscribe(self, thread_id: str) -> AsyncGenerator[LocalSubscription]:
        subscription = LocalSubscription()
        if partial := self._writing.get(thread_id):
            subscription.offer(partial)
        self._subscriptions.setdefault(thread_id, set()).add(subscription)
        try:
            yield subscription
        finally:
            followers = self._subscriptions[thread_id]
            followers.discard(subscription)
            if not followers:
                del self._subscriptions[thread_id]

    def _remember(self, thread_id: str, item: Live) -> None:
        """Keep the text of the message that is being written, for followers who come in the middle of it."""
        if isinstance(item, Token):
            before = self._writing.get(thread_id)
            same = before is not None and before.message_id == item.message_id
            text = (before.text if before and same else "") + item.text
            self._writing[thread_id] = Partial(thread_id, item.seq, item.part, item.message_id, text)
        elif isinstance(item, Event) and item.type in _ENDS_MESSAGE:
            self._writing.pop(thread_id, None)
