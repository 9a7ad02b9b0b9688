"""The timer behind deadlines and the warnings before them: it sleeps until the nearest, and is told of nearer ones."""

import asyncio
import logging
from datetime import datetime

from interlock.services.answering import expire_due
from interlock.services.core import Core
from interlock.services.webhooks import warn_due

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
        """Expire and warn of what is due, now and whenever the next deadline or warning comes, until cancelled."""
        while True:
            try:
                await expire_due(core)
                if core.policy.webhook_hosts:
                    await warn_due(core)
                pause = self._until(core.clock.now(), await _nearest(core))
            except Exception:
                # Whatever it is, deadlines must not stand still until the next start.
                logger.exception("deadlines could not be looked at; trying again")
                pause = RETRY_SECONDS
            await self._sleep(pause)

    @staticmethod
    def _until(now: datetime, nearest: datetime | None) -> float:
        if nearest is None:
            return LONGEST_SLEEP
        return min(max((nearest - now).total_seconds(), 0.0), LONGEST_SLEEP)

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._nudged.wait()
        except TimeoutError:
            return
        finally:
            self._nudged.clear()


async def _nearest(core: Core) -> datetime | None:
    """The nearest deadline, or the warning before it if somebody is to be warned."""
    async with core.store.snapshot() as tx:
        moments = [await tx.requests.next_deadline()]
        if core.policy.webhook_hosts:
            moments.append(await tx.requests.next_warning())
    return min((moment for moment in moments if moment is not None), default=None)
