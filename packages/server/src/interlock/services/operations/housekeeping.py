"""What is kept for a while only: replies to repeated calls, tickets, sent webhooks and notices, values that nobody
collected, and conversations, where the operator says so; and what is left of those that were deleted, and of people."""

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta

from interlock.domain.errors import StorageUnavailable
from interlock.services.access.accounts import record_counted
from interlock.services.access.deleted_accounts import clear_up
from interlock.services.core import Core, sleep_until_set, unit
from interlock.services.operations.retention import expire_one_runs, expire_threads
from interlock.services.threads.removal import drop_some

REPLIES_KEPT = timedelta(days=7)
DELIVERIES_KEPT = timedelta(days=30)
UNCOLLECTED_KEPT = timedelta(days=1)
DRILLS_WAIT = timedelta(days=1)
DRILLS_KEPT = timedelta(weeks=27)
"""For as long as there are figures of them."""
EVERY_SECONDS = 3600.0
LOOK_SECONDS = 30.0
"""Another server may have died with something left of a deleted thread."""
RETRY_SECONDS = 1.0

logger = logging.getLogger(__name__)


async def tidy(core: Core) -> None:
    await record_counted(core)
    async with unit(core) as work:
        await work.tx.replies.purge(work.now - REPLIES_KEPT)
        await work.tx.tickets.purge(work.now)
        await work.tx.sign_ins.purge(work.now)
        await work.tx.identities.purge_states(work.now)
        await work.tx.deliveries.purge(work.now - DELIVERIES_KEPT)
        await work.tx.drills.purge(work.now - DRILLS_WAIT, work.now - DRILLS_KEPT)
        await work.tx.notices.purge(work.now - DELIVERIES_KEPT)
        await work.tx.addresses.purge_codes(work.now)
        await work.tx.secrets.destroy_uncollected(work.now - UNCOLLECTED_KEPT)
    await expire_one_runs(core)
    if core.settings.retention_days is not None:
        expired = await expire_threads(core, core.settings.retention_days)
        if expired:
            logger.info("deleted %d conversations that nobody touched for long enough", expired)


async def keep_tidy(core: Core) -> None:
    """Until cancelled."""
    try:
        while True:
            try:
                await tidy(core)
            except Exception:
                logger.exception("could not tidy up; trying again in an hour")
            await asyncio.sleep(EVERY_SECONDS)
    finally:
        with suppress(StorageUnavailable):
            await record_counted(core)


async def keep_dropping(core: Core) -> None:
    """Until cancelled."""
    while True:
        pause = LOOK_SECONDS
        try:
            while await drop_some(core):
                pass
            await clear_up(core)
        except Exception:
            logger.exception("what is left of deleted threads and people could not be ended; trying again")
            pause = RETRY_SECONDS
        await sleep_until_set(core.removal_written, pause)
