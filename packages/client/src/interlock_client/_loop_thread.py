"""An event loop in a thread of its own, on which code without async runs what has it."""

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

ENDING = 10.0


class LoopThread:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="interlock-client", daemon=True)
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        # While the interpreter ends nothing runs in this thread any more, and nobody may wait for it.
        return self._loop.is_closed() or sys.is_finalizing()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for it. Whatever ends the waiting, an interrupt typed in a terminal included, ends the work too."""
        if self.is_closed:
            work.close()
            raise RuntimeError("this client is closed")
        future = asyncio.run_coroutine_threadsafe(_wait_for(work), self._loop)
        try:
            return future.result()
        except BaseException:
            if not future.done():
                future.cancel()
                self._let(_those_cancelled_end())
            raise

    def iterate(self, items: AsyncGenerator[T]) -> Generator[T]:
        """Take one item after the other. Leaving the iteration closes what they come from."""
        try:
            while True:
                try:
                    item = self.run(anext(items))
                except StopAsyncIteration:
                    return
                yield item
        finally:
            if not self.is_closed:
                self.run(items.aclose())

    def close(self) -> None:
        """End everything that still runs."""
        if self.is_closed:
            return
        self._let(_all_end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _let(self, ending: Coroutine[Any, Any, None]) -> None:
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(ending, self._loop).result(ENDING)


async def _wait_for(work: Coroutine[Any, Any, T]) -> T:
    # The step of a generator is no coroutine by the letter.
    return await work


def _others() -> set[asyncio.Task[Any]]:
    return asyncio.all_tasks() - {asyncio.current_task()}


async def _those_cancelled_end() -> None:
    await asyncio.gather(*(task for task in _others() if task.cancelling()), return_exceptions=True)


async def _all_end() -> None:
    for task in _others():
        task.cancel()
    await _those_cancelled_end()
    await asyncio.get_running_loop().shutdown_asyncgens()
