"""The timer behind deadlines and the warnings before them: it sleeps until the nearest, and is told of nearer ones."""

import logging

from interlock.services.core import Core, shared_time, sleep_until_set
from interlock.services.gateway.doubts import ask_about_lost
from interlock.services.requests.answering import expire_due
from interlock.services.requests.holding import end_abandoned
from interlock.services.teams.levels import open_due_levels
from interlock.services.webhooks.webhooks import warn_due

LONGEST_SLEEP = 30.0
"""Other servers on the same database set deadlines too, and a system clock may be stepped: look again after this."""
RETRY_SECONDS = 1.0

logger = logging.getLogger(__name__)


async def keep_deadlines(core: Core) -> None:
    """Expire and warn of what is due, and end what nobody waits for, until cancelled."""
    while True:
        try:
            await expire_due(core)
            await open_due_levels(core)
            await end_abandoned(core)
            await ask_about_lost(core)
            if core.settings.webhook_hosts:
                await warn_due(core)
            pause = min(max(await until_nearest(core), 0.0), LONGEST_SLEEP)
        except Exception:
            # Whatever it is, deadlines must not stand still until the next start.
            logger.exception("deadlines could not be looked at; trying again")
            pause = RETRY_SECONDS
        await sleep_until_set(core.deadline_set, pause)


async def until_nearest(core: Core) -> float:
    """Seconds until the nearest deadline, or the warning before it if somebody is to be warned."""
    async with core.store.snapshot() as tx:
        moments = [await tx.requests.next_deadline(), await tx.routes.next_level()]
        if core.settings.webhook_hosts:
            moments.append(await tx.requests.next_warning())
        waits = [(moment - core.clock.now()).total_seconds() for moment in moments if moment is not None]
        if (left := await tx.upstream_calls.next_left()) is not None:
            waits.append((left - await shared_time(core, tx)).total_seconds())
    return min(waits, default=LONGEST_SLEEP)
