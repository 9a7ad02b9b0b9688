"""How long conversations are kept: those that nobody touched for long enough are deleted, as a person would do it."""

import asyncio
from datetime import datetime, timedelta

from interlock.domain.errors import InvalidInput
from interlock.domain.principal import SYSTEM
from interlock.domain.request import PauseStatus
from interlock.domain.thread import ONE_RUN, Thread, ThreadStatus
from interlock.services.core import Core, Unit, unit
from interlock.services.threads.removal import drop_some, remove_thread

LONGEST = 36_500
"""In days."""
LOOKED_AT = 1_000
LEFT_BEHIND = timedelta(minutes=10)
"""After so long the server that was to delete the thread of a run is not there any more."""


def retention_cutoff(now: datetime, days: int) -> datetime:
    """What was last touched before this moment is deleted when so many days are kept."""
    if not 0 < days <= LONGEST:
        raise InvalidInput(f"the days to keep must be a whole number from 1 to {LONGEST}")
    return now - timedelta(days=days)


async def count_expired(core: Core, days: int) -> int:
    async with core.store.snapshot() as tx:
        return await tx.threads.count_idle_since(retention_cutoff(core.clock.now(), days))


async def expire_threads(core: Core, days: int) -> int:
    """Delete what nobody touched for so many days, each in a transaction of its own; returns how many it were."""
    expired = await _expire_all(core, retention_cutoff(core.clock.now(), days), "retention")
    # Also where no server runs that would do it.
    while await drop_some(core):
        pass
    return expired


async def expire_one_runs(core: Core) -> int:
    """Delete the threads of runs that had none, which a server left that died before their end."""
    return await _expire_all(core, core.clock.now() - LEFT_BEHIND, "its run has ended", ONE_RUN)


async def _expire_all(core: Core, before: datetime, reason: str, face: str | None = None) -> int:
    expired = 0
    while True:
        async with core.store.snapshot() as tx:
            found = await tx.threads.idle_since(before, LOOKED_AT, face)
        count = 0
        for thread_id in found:
            count += await _expire(core, thread_id, before, reason)
            # Others may want something meanwhile.
            await asyncio.sleep(0)
        expired += count
        if not count:
            return expired


async def _expire(core: Core, thread_id: str, before: datetime, reason: str) -> bool:
    """False when it is not to be deleted any more: somebody may have written to it since it was found."""
    async with unit(core) as work:
        thread = await work.tx.threads.lock(thread_id)
        if thread is None or not await _is_idle(work, thread, before):
            return False
        await remove_thread(work, SYSTEM, thread, reason=reason)
    return True


async def _is_idle(work: Unit, thread: Thread, before: datetime) -> bool:
    if thread.status is not ThreadStatus.IDLE or thread.updated_at >= before:
        return False
    if await work.tx.runs.active_of(thread.id) is not None:
        return False
    return not await work.tx.pauses.of_thread(thread.id, PauseStatus.OPEN, limit=1)
