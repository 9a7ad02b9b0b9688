"""Runs that nobody follows any more: stopped, once no other server has a follower either.

A server knows its own followers only. Before it stops a run it asks the others, by a row in the store: each looks there
once a second, and takes the row away if it has a follower. So nothing is written when a stream begins or ends, and
nothing while it goes on.
"""

import asyncio
import logging
from datetime import datetime, timedelta

from interlock.domain.ids import new_id
from interlock.domain.run import Run
from interlock.services.core import Core, Unit, unit
from interlock.services.pulse import BEAT_SECONDS

ANSWER_SECONDS = 3 * BEAT_SECONDS
"""How long others have to say that they have a follower."""
FORGOTTEN = timedelta(minutes=10)

logger = logging.getLogger(__name__)


async def stop_unfollowed(core: Core, thread_id: str, left_at: datetime) -> None:
    """The last follower has gone and none came back: stop what it watched, unless its sender said that it goes on.

    A run that began after that is not what it watched: whoever sent for that one is about to follow it.
    """
    if core.policy.several_servers and not await _is_alone(core, thread_id, left_at):
        return
    async with unit(core) as work:
        if run := await _watched(work, thread_id, left_at):
            await work.tx.runs.request_stop(run.id, "nobody follows the run any more")
            work.stop(run.id)


async def _watched(work: Unit, thread_id: str, left_at: datetime) -> Run | None:
    await work.tx.threads.lock(thread_id)
    run = await work.tx.runs.active_of(thread_id)
    return run if run is not None and not run.detached and run.created_at <= left_at else None


async def _is_alone(core: Core, thread_id: str, left_at: datetime) -> bool:
    """Whether no other server said that it has a follower."""
    mark = new_id("mark")
    async with unit(core) as work:
        if await _watched(work, thread_id, left_at) is None:
            return False
        await work.tx.unfollowed.forget(work.now - FORGOTTEN)
        await work.tx.unfollowed.ask(thread_id, mark, work.now)
    await asyncio.sleep(ANSWER_SECONDS)
    async with unit(core) as work:
        stands = await work.tx.unfollowed.take_back(thread_id, mark)
    is_alone = stands and not core.presence.is_followed(thread_id)
    if not is_alone:
        logger.info("the run on thread %s goes on: it is followed elsewhere", thread_id)
    return is_alone
