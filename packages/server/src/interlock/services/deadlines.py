"""The timer behind deadlines: it sleeps until the nearest one, and is told of nearer ones as they are set."""

import asyncio
import logging
from datetime import datetime

from interlock.services.answering import expire_due
from interlock.services.core import Core

LONGEST_SLEEP = 30.0
"""Other servers on the same database set deadlines too, and a system clock may be stepped: look again after this."""
RETRY_SECONDS = 1.0

logger = logging.getLogger(__name__)


class DeadlineTimer:
    def __init__(self) -> None:
        self._nudged = asyncio.Event()

    def nudge(self) -> None:
        self._nudged.set()

    async def run(self, core: Core) -> None:
        """Expire what is due, now and whenever the next deadline comes, until cancelled."""
        while True:
            try:
                await expire_due(core)
                async with core.store.snapshot() as tx:
                    deadline = await tx.requests.next_deadline()
                pause = self._until(core.clock.now(), deadline)
            except Exception:
                # Whatever it is, deadlines must not stand still until the next start.
                logger.exception("deadlines could not be looked at; trying again")
                pause = RETRY_SECONDS
            await self._sleep(pause)

    @staticmethod
    def _until(now: datetime, deadline: datetime | None) -> float:
        if deadline is None:
            return LONGEST_SLEEP
        return min(max((deadline - now).total_seconds(), 0.0), LONGEST_SLEEP)

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._nudged.wait()
        except TimeoutError:
            return
        finally:
            self._nudged.clear()
