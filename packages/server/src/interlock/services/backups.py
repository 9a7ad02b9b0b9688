"""The rules around a backup: that it was taken is on record, and what may not go on by itself once it is restored.

After a restore the world is ahead of the database: a tool that ran since then has no record any more.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.event import EventType
from interlock.domain.moment import spelled
from interlock.domain.principal import SYSTEM
from interlock.domain.run import Run, RunStatus
from interlock.domain.thread import ThreadStatus
from interlock.ports.store import Transaction
from interlock.services.core import Core, unit

_ENDED = {
    "en": "The server was restored from a backup of {taken_at}, when this was under way. What it did after that is not "
    "known, so it did not go on by itself; you can continue the conversation.",
    "zh": "服务器已从 {taken_at} 的备份恢复，当时此次运行尚未结束。"
    "之后它做过什么已无从得知，因此没有自动继续；您可以继续对话。",
}


async def record_backup(core: Core, about: Mapping[str, Any]) -> None:
    """After the file is complete: it is not part of what was copied."""
    async with unit(core) as work:
        await work.tx.audit.append(SERVER_CHAIN, SYSTEM, "backup.taken", about, work.now)


async def settle_restored(
    tx: Transaction, taken_at: datetime, at: datetime, locale: Literal["zh", "en"], about: Mapping[str, Any]
) -> int:
    """In the transaction of the restore: end every run that was queued or running, and fence off who worked on it.

    Open pauses stay open. Returns how many runs were ended.
    """
    await tx.leases.requeue_lost(None)
    await tx.leases.fence_off_all()
    ended, error = 0, _ENDED[locale].format(taken_at=spelled(taken_at))
    while (run := await tx.runs.next_queued()) is not None:
        await _end(tx, run, error, at)
        ended += 1
    await tx.audit.append(SERVER_CHAIN, SYSTEM, "backup.restored", {**about, "runs_ended": ended}, at)
    return ended


async def _end(tx: Transaction, run: Run, error: str, at: datetime) -> None:
    await tx.runs.change(run.id, RunStatus.FAILED, at, error=error)
    data = {"run_id": run.id, "status": RunStatus.FAILED, "error": error}
    await tx.events.append(run.thread_id, [(EventType.RUN_ENDED, data)], at)
    await tx.threads.update(run.thread_id, at, status=ThreadStatus.IDLE)
