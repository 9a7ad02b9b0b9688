"""Runs that nobody follows any more: stopped, once no other server has a follower either.

A server knows its own followers only. Before it stops a run it asks the others, by a row in the store: each looks there
once a second, takes the row away if it has a follower, and signs that it looked. One that lives and has not looked may
have a follower: to wait for it costs little, and to stop a run that somebody follows costs the run. So nothing is
written when a stream begins or ends, and nothing while it goes on.
"""

import asyncio
import logging
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from functools import partial

from interlock.domain.ids import new_id
from interlock.domain.run import Run
from interlock.services.core import Core, Unit, unit
from interlock.services.operations.pulse import BEAT_SECONDS

ANSWER_SECONDS = 3 * BEAT_SECONDS
"""How long others have at the least to say that they have a follower: those of earlier versions leave no sign."""
GONE_SECONDS = 60
"""After so much silence a server is taken for dead, and its followers for gone."""
FORGOTTEN = timedelta(minutes=10)

logger = logging.getLogger(__name__)


def count_follower(core: Core, thread_id: str) -> AbstractContextManager[None]:
    """Count somebody as a follower of the thread, by whatever face: as long as there is one its run goes on."""
    on_gone = partial(stop_unfollowed, core)
    return core.presence.follow(thread_id, core.settings.follow_grace, core.clock.now, on_gone)


async def stop_unfollowed(core: Core, thread_id: str, left_at: datetime) -> None:
    """The last follower has gone and none came back: stop what it watched, unless its sender said that it goes on.

    A run that began after that is not what it watched: whoever sent for that one is about to follow it.
    """
    if core.settings.several_servers and not await _is_alone(core, thread_id, left_at):
        return
    async with unit(core) as work:
        if run := await _watched_run(work, thread_id, left_at):
            await work.tx.runs.request_stop(run.id, "nobody follows the run any more")
            work.stop(run.id)


async def _watched_run(work: Unit, thread_id: str, left_at: datetime) -> Run | None:
    await work.tx.threads.lock(thread_id)
    run = await work.tx.runs.active_of(thread_id)
    return run if run is not None and not run.detached and run.created_at <= left_at else None


async def _is_alone(core: Core, thread_id: str, left_at: datetime) -> bool:
    """Whether no other server said that it has a follower."""
    mark = new_id("mark")
    async with unit(core) as work:
        if await _watched_run(work, thread_id, left_at) is None:
            return False
        await work.tx.follower_questions.forget(work.now - FORGOTTEN)
        await work.tx.follower_questions.ask(thread_id, mark, work.now)
    if not await _is_unclaimed(core, thread_id, mark) or core.presence.is_followed(thread_id):
        logger.info("the run on thread %s goes on: it is followed elsewhere", thread_id)
        return False
    return True


async def _is_unclaimed(core: Core, thread_id: str, mark: str) -> bool:
    """Wait until every server that lives has looked, and say whether the question still stands then."""
    async with core.store.snapshot() as tx:
        asked_at = await tx.servers.moment(core.clock.now())
    await asyncio.sleep(ANSWER_SECONDS)
    is_told = False
    while True:
        async with unit(core) as work:
            if not await work.tx.follower_questions.is_open(thread_id, mark):
                return False
            oldest_sign = await work.tx.servers.moment(work.now) - GONE_SECONDS * 1000
            if not await work.tx.servers.any_between(oldest_sign, asked_at, core.pulse.server):
                return await work.tx.follower_questions.take_back(thread_id, mark)
        if not is_told:
            logger.info("the run on thread %s goes on until another server, which is slow, has looked", thread_id)
            is_told = True
        await asyncio.sleep(BEAT_SECONDS)
