"""The bus of a single process: bounded queues, one per follower."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Generic, TypeVar

from interlock import failpoints
from interlock.domain.event import Call, Event, EventType, Live, Partial, Token
from interlock.ports.bus import Notice

CAPACITY = 1_000
"""How many items wait for a follower before it counts as too slow and has to read the log."""

_ENDS_MESSAGE = (EventType.ASSISTANT_MESSAGE, EventType.RUN_ENDED, EventType.THREAD_DELETED)


Item = TypeVar("Item")


class _Queue(Generic[Item]):
    """Bounded: who is too slow loses what waited."""

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._arrival = asyncio.Event()
        self._lagged = False

    @property
    def is_full(self) -> bool:
        return len(self._items) >= CAPACITY

    def put(self, item: Item) -> None:
        if self.is_full:
            self._items.clear()
            self._lagged = True
        self._items.append(item)
        self._arrival.set()

    def lag(self) -> None:
        """What waited is old, and there may have been more."""
        self._items.clear()
        self._lagged = True
        self._arrival.set()

    async def next(self, timeout: float) -> Item | None:
        if not self._items:
            self._arrival.clear()
            try:
                async with asyncio.timeout(timeout):
                    await self._arrival.wait()
            except TimeoutError:
                return None
        return self._items.popleft() if self._items else None

    def wake(self) -> None:
        self._arrival.set()

    def take_lagged(self) -> bool:
        lagged, self._lagged = self._lagged, False
        return lagged


def _hand_out(items: Sequence[Item], queues: set[_Queue[Item]]) -> None:
    if failpoints.is_on("bus.off"):
        return
    for queue in queues:
        for item in items:
            queue.put(item)


@contextmanager
def _register(queues: set[_Queue[Item]]) -> Generator[_Queue[Item]]:
    queue: _Queue[Item] = _Queue()
    queues.add(queue)
    try:
        yield queue
    finally:
        queues.discard(queue)


class LocalSubscription(_Queue[Live]):
    def offer(self, item: Live, draft: "_Draft | None" = None) -> None:
        """Queue an item. A follower that is too slow has the text so far in place of what it lost."""
        if self.is_full and isinstance(item, Token) and draft is not None:
            item = draft.so_far()
        self.put(item)


class _Draft:
    """The message that is being written. Its text is put together only for who needs it: there may be many pieces."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._last: Token | None = None

    def takes(self, token: Token) -> bool:
        return self._last is None or self._last.message_id == token.message_id

    def has(self, token: Token) -> bool:
        last = self._last
        return last is not None and self.takes(token) and (token.seq, token.part) <= (last.seq, last.part)

    def add(self, token: Token) -> None:
        self._pieces.append(token.text)
        self._last = token

    def so_far(self) -> Partial:
        assert self._last is not None
        text = "".join(self._pieces)
        self._pieces = [text]
        return Partial(self._last.thread_id, self._last.seq, self._last.part, self._last.message_id, text)


class LocalBus:
    def __init__(self) -> None:
        self._subscriptions: dict[str, set[LocalSubscription]] = {}
        self._drafts: dict[str, _Draft] = {}
        self._inboxes: set[_Queue[Notice]] = set()
        self._workers: set[_Queue[Call]] = set()

    def notify(self, notices: Sequence[Notice]) -> None:
        _hand_out(notices, self._inboxes)

    @asynccontextmanager
    async def notices(self) -> AsyncGenerator[_Queue[Notice]]:
        with _register(self._inboxes) as inbox:
            yield inbox

    def call(self, calls: Sequence[Call]) -> None:
        _hand_out(calls, self._workers)

    @asynccontextmanager
    async def calls(self) -> AsyncGenerator[_Queue[Call]]:
        with _register(self._workers) as worker:
            yield worker

    def publish(self, thread_id: str, items: Sequence[Live]) -> None:
        if failpoints.is_on("bus.off"):
            return
        for item in items:
            if self._is_known(thread_id, item):
                continue
            self._remember(thread_id, item)
            for subscription in self._subscriptions.get(thread_id, ()):
                subscription.offer(item, self._drafts.get(thread_id))

    @asynccontextmanager
    async def subscribe(self, thread_id: str) -> AsyncGenerator[LocalSubscription]:
        subscription = LocalSubscription()
        if draft := self._drafts.get(thread_id):
            subscription.offer(draft.so_far())
        self._subscriptions.setdefault(thread_id, set()).add(subscription)
        try:
            yield subscription
        finally:
            followers = self._subscriptions[thread_id]
            followers.discard(subscription)
            if not followers:
                del self._subscriptions[thread_id]

    def lag(self) -> None:
        """Something may have been lost on its way here: every follower and every inbox looks for itself."""
        self._drafts.clear()
        for queue in (*self._inboxes, *(one for those in self._subscriptions.values() for one in those)):
            queue.lag()

    def _is_known(self, thread_id: str, item: Live) -> bool:
        """Whether a token was told before: between processes, what got no reply is sent again."""
        draft = self._drafts.get(thread_id)
        return isinstance(item, Token) and draft is not None and draft.has(item)

    def _remember(self, thread_id: str, item: Live) -> None:
        """Keep the text of the message that is being written, for followers who come in the middle of it."""
        if isinstance(item, Token):
            draft = self._drafts.get(thread_id)
            if draft is None or not draft.takes(item):
                draft = self._drafts[thread_id] = _Draft()
            draft.add(item)
        elif isinstance(item, Event) and item.type in _ENDS_MESSAGE:
            self._drafts.pop(thread_id, None)
