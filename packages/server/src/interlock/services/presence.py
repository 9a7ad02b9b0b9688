"""Who follows a thread right now, so that a run nobody watches any more can be stopped."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from datetime import datetime

Gone = Callable[[str, datetime], Awaitable[None]]


class Presence:
    """Counts the followers of each thread in this process.

    When the last one has gone and none came back within the grace time, `gone` is called with the thread's id and the
    moment at which that one went.
    """

    def __init__(self) -> None:
        self._followers: Counter[str] = Counter()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @contextmanager
    def follow(self, thread_id: str, grace: float, now: Callable[[], datetime], gone: Gone) -> Generator[None]:
        self._followers[thread_id] += 1
        if timer := self._timers.pop(thread_id, None):
            timer.cancel()
        try:
            yield
        finally:
            self._followers[thread_id] -= 1
            if self._followers[thread_id] <= 0:
                del self._followers[thread_id]
                loop = asyncio.get_running_loop()
                self._timers[thread_id] = loop.call_later(grace, self._fire, thread_id, now(), gone)

    def is_followed(self, thread_id: str) -> bool:
        """Whether somebody follows it here, or may be about to come back."""
        return thread_id in self._followers or thread_id in self._timers

    def close(self) -> None:
        """Forget every timer: a server that shuts down is not a disconnect."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _fire(self, thread_id: str, left_at: datetime, gone: Gone) -> None:
        self._timers.pop(thread_id, None)

        async def call() -> None:
            await gone(thread_id, left_at)

        task = asyncio.create_task(call())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
