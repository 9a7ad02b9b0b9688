"""Workers: their signs of life, whether there is one, and how the cluster stands."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from interlock.domain.errors import NoWorker, StorageUnavailable
from interlock.domain.run import RunStatus
from interlock.domain.thread import LeaseRecord
from interlock.domain.worker import Worker
from interlock.services.core import Core, Unit, unit

BEAT_SECONDS = 5.0
GONE_SECONDS = 30.0
"""After so much silence a worker is taken for dead."""
FORGOTTEN = timedelta(hours=1)
LOOKS = (0.1, 0.5, 2.0, 5.0)
"""Seconds between the looks for what a dismissed worker holds: what it was about to take, what was locked."""
MOST_LEASES = 1_000

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Cluster:
    workers: Sequence[Worker]
    runs: dict[RunStatus, int]
    """Those that are queued or running."""
    leases: Sequence[LeaseRecord]


async def send_heartbeats(core: Core, describe: Callable[[], Worker]) -> None:
    """Say that this worker lives, for as long as it does; returns when it was dismissed."""
    while True:
        try:
            worker = describe()
            async with unit(core) as work:
                if await work.tx.workers.is_dismissed(worker.id):
                    logger.warning("%s was taken for dead, and ends", worker.id)
                    return
                await work.tx.workers.beat(worker)
                await work.tx.workers.forget(worker.seen_at, FORGOTTEN)
        except StorageUnavailable as error:
            logger.warning("no sign of life could be left: %s", error.message)
        await asyncio.sleep(BEAT_SECONDS)


async def dismiss(core: Core, worker_id: str) -> None:
    """It is gone, says whoever keeps it: what it ran is queued at once, and goes on at another one.

    Whoever is wrong in that costs a run some time, and no more: the worker is fenced off before anybody takes over.
    """
    left = list(LOOKS)
    while left:
        await asyncio.sleep(left[0])
        if await dismiss_once(core, worker_id):
            del left[0]


async def dismiss_once(core: Core, worker_id: str) -> bool:
    """Whether the store could be told."""
    try:
        async with unit(core) as work:
            await work.tx.workers.dismiss(worker_id, work.now)
            for run_id in await work.tx.leases.requeue_of(worker_id):
                logger.warning("%s is gone; run %s is queued again", worker_id, run_id)
                work.wake(run_id)
    except StorageUnavailable as error:
        logger.warning("the leases of %s could not be ended: %s", worker_id, error.message)
        return False
    return True


async def leave(core: Core, worker_id: str) -> None:
    """It ends, and says so."""
    try:
        async with unit(core) as work:
            await work.tx.workers.leave(worker_id)
    except StorageUnavailable:
        logger.warning("the store could not be told that this worker ends")


async def require_worker(work: Unit) -> None:
    """`NoWorker` where agents run elsewhere and nobody who runs them was heard of; nothing is taken then.

    By what the store knows: what runs agents is never called while somebody waits.
    """
    core = work.core
    if not core.settings.remote_workers or core.pulse.access is None:
        return
    # One may have come since the pulse looked.
    seen = core.pulse.worker_seen
    if _lives(seen and (work.now - seen).total_seconds()):
        return
    if not _lives(await work.tx.workers.seconds_since_heartbeat(work.now)):
        raise NoWorker("nothing runs agents at the moment; the request is still pending, answer it again later")


def _lives(silence: float | None) -> bool:
    return silence is not None and silence <= GONE_SECONDS


async def cluster(core: Core) -> Cluster:
    async with core.store.snapshot() as tx:
        return Cluster(await tx.workers.all(), await tx.runs.counts(), await tx.leases.active(MOST_LEASES))
