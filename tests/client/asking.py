"""An agent that asks in the background, and a person who answers it; every wait is bounded."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from interlock_client import Interlock
from interlock_client.hitl import PendingRequest

SECONDS = 60.0

T = TypeVar("T")


class Person(Interlock):
    async def sees(self, agent: Interlock, count: int = 1) -> list[PendingRequest]:
        """What waits in the agent's conversation, once there are so many."""

        async def look() -> list[PendingRequest]:
            where = agent.conversation_id
            return [] if where is None else [one async for one in self.pending(where)]

        return await until(look, lambda found: len(found) == count)

    async def sees_any(self) -> list[PendingRequest]:
        """Everything that waits, once there is something."""

        async def look() -> list[PendingRequest]:
            return [one async for one in self.pending()]

        return await until(look, bool)

    async def answers(self, agent: Interlock, **fields: Any) -> PendingRequest:
        """Answer what the agent asked, when it is there."""
        [asked] = await self.sees(agent)
        await self.respond(asked.request_id, fields)
        return asked


async def until(look: Callable[[], Awaitable[T]], is_right: Callable[[T], bool]) -> T:
    deadline = time.monotonic() + SECONDS
    while True:
        seen = await look()
        if is_right(seen):
            return seen
        assert time.monotonic() < deadline, f"still not so after {SECONDS} s: {seen}"
        await asyncio.sleep(0.02)


@asynccontextmanager
async def asking(work: Coroutine[Any, Any, T]) -> AsyncGenerator["asyncio.Task[T]"]:
    """Let it go on beside the test; it is ended with the block."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def within(work: Awaitable[T], seconds: float = SECONDS) -> T:
    return await asyncio.wait_for(work, seconds)
