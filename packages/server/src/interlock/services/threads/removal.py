"""Threads as they are deleted: gone at once for everybody, and then, where much was said on them, dropped bit by bit.

Nobody else has to wait for a long conversation to be dropped, and a crash in the middle of it leaves a mark that the
next start goes on from.
"""

from interlock import failpoints
from interlock.domain.event import ThreadDeleted
from interlock.domain.principal import Principal, Role
from interlock.domain.run import RunStatus
from interlock.domain.thread import Removal, Thread
from interlock.services.core import Core, Unit, unit
from interlock.services.requests.settling import cancel_and_drop, cancel_open

CANCELLED_AT_ONCE = 200
"""How many requests are cancelled in one transaction: some hundredths of a second's work, for which others wait."""
DROPPED_AT_ONCE = 1_000
"""How many rows of each table are dropped in one, where nothing is to be told of them: no longer."""

_REASON = "the thread was deleted"


async def remove_thread(work: Unit, principal: Principal, thread: Thread, reason: str | None = None) -> None:
    """Delete a locked thread: what runs is stopped, what is pending is cancelled."""
    is_left = await cancel_open(work, thread.id, principal, _REASON, most=CANCELLED_AT_ONCE)
    run = await work.tx.runs.active_of(thread.id)
    if run is not None:
        await work.tx.runs.change(run.id, RunStatus.STOPPED, work.now, error=_REASON)
        work.stop(run.id)
    await work.tx.grants.end_of_thread(thread.id, work.now)
    await work.record(thread.id, ThreadDeleted(principal.name, thread.owner_id, thread.agent, thread.asker_id))
    await work.tx.audit.append(thread.id, principal, "thread.deleted", {"reason": reason} if reason else {}, work.now)
    await work.tx.threads.delete(thread.id, work.now)
    if is_left or await work.tx.threads.drop(thread.id, DROPPED_AT_ONCE):
        await work.tx.removals.add(Removal(thread.id, principal.id, principal.name, work.now))
        work.remove()


async def drop_some(core: Core) -> bool:
    """Drop some of what is left of a deleted thread; False when nothing is left of any."""
    async with unit(core) as work:
        removal = await work.tx.removals.next()
        if removal is None:
            return False
        by = Principal(removal.by_id, removal.by_name, Role.OWNER)
        is_left = await cancel_and_drop(work, removal.thread_id, by, _REASON, most=CANCELLED_AT_ONCE)
        if not is_left and not await work.tx.threads.drop(removal.thread_id, DROPPED_AT_ONCE):
            await work.tx.removals.finish(removal.thread_id)
    failpoints.hit("removal.committed")
    return True
