"""What would end a process ends the run that raised it, and no more.

asyncio lets `SystemExit` and `KeyboardInterrupt` out of a task and through the event loop: a node that calls
`sys.exit()` would take the server, and everybody else's runs, with it.
"""

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, cast

from interlock.agents.context import current


class EndedItself(Exception):
    """A node or tool tried to end the process."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"it tried to end the process: {type(error).__name__}({error})")


def contain(loop: asyncio.AbstractEventLoop) -> None:
    """From now on every task that a run's code starts is contained."""
    if getattr(loop.get_task_factory(), "interlock", False):
        return

    def make(
        loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any] | Generator[Any, None, Any], **more: Any
    ) -> asyncio.Task[Any]:
        if current.get() is not None and asyncio.iscoroutine(coro):
            coro = _contained(coro)
        return asyncio.Task(cast("Coroutine[Any, Any, Any]", coro), loop=loop, **more)

    cast("Any", make).interlock = True
    loop.set_task_factory(make)


async def _contained(work: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:
        raise EndedItself(error) from error
