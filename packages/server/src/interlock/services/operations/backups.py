"""The rules around a backup: that it was taken is on record, and what may not go on by itself once it is restored.

After a restore the world is ahead of the database: a tool that ran since then has no record any more.
"""

from collections.abc import Mapping
from datetime import datetime

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.event import RunEnded
from interlock.domain.json_value import JsonValue
from interlock.domain.moment import to_iso
from interlock.domain.principal import SYSTEM
from interlock.domain.run import Run, RunStatus
from interlock.domain.thread import ThreadStatus
from interlock.ports.store import Transaction
from interlock.services.core import Core, unit
from interlock.texts import Locale, backups_text


async def record_backup(core: Core, about: Mapping[str, JsonValue]) -> None:
    """After the file is complete: it is not part of what was copied."""
    async with unit(core) as work:
        await work.tx.audit.append(SERVER_CHAIN, SYSTEM, "backup.taken", about, work.now)


async def settle_restored(
    tx: Transaction, taken_at: datetime, at: datetime, locale: Locale, about: Mapping[str, JsonValue]
) -> int:
    """In the transaction of the restore: end every run that was queued or running, and fence off who worked on it.

    Open pauses stay open. Returns how many runs were ended.
    """
    await tx.leases.requeue_lost(None)
    await tx.leases.fence_off_all()
    ended, error = 0, backups_text("run_ended", locale, taken_at=to_iso(taken_at))
    while (run := await tx.runs.next_queued()) is not None:
        await _end(tx, run, error, at)
        ended += 1
    await tx.audit.append(SERVER_CHAIN, SYSTEM, "backup.restored", {**about, "runs_ended": ended}, at)
    return ended


async def _end(tx: Transaction, run: Run, error: str, at: datetime) -> None:
    await tx.runs.change(run.id, RunStatus.FAILED, at, error=error)
    await tx.events.append(run.thread_id, [RunEnded(run.id, RunStatus.FAILED, error)], at)
    await tx.threads.update(run.thread_id, at, status=ThreadStatus.IDLE)
