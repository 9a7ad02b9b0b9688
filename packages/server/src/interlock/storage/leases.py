"""Leases, which live in the rows of their threads."""

from collections.abc import Collection
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Executable,
    Float,
    Integer,
    bindparam,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    update,
)

from interlock.domain.errors import LeaseLost
from interlock.domain.run import RunStatus
from interlock.domain.thread import Lease, LeaseRecord, Thread, ThreadStatus
from interlock.storage._repository import Repository, batched
from interlock.storage.runs import IS_ACTIVE
from interlock.storage.schema import Moment, runs, threads, waiting_runs
from interlock.storage.threads import IS_ALIVE, NO_LEASE, THREAD_COLUMNS, thread_of

HOLDS = (
    threads.c.id == bindparam("of_thread"),
    threads.c.epoch == bindparam("of_epoch"),
    # A lease that was given back is not held any more, though nobody has taken the next one yet.
    threads.c.lease_worker == bindparam("of_worker"),
    IS_ALIVE,
)
"""The one condition under which a run may write, whatever it writes; `holder` gives its values."""
_CHECK = select(*THREAD_COLUMNS).where(*HOLDS).with_for_update()
_END = (
    update(threads)
    .where(*HOLDS)
    .values(
        status=bindparam("to_status"),
        updated_at=bindparam("at"),
        message_count=func.coalesce(bindparam("count", type_=Integer), threads.c.message_count),
        **NO_LEASE,
    )
    # Told by the same statement: a run that ends costs no further one where nothing waits.
    # By the value: in RETURNING SQLAlchemy writes columns without their tables for SQLite.
    .returning(exists().where(waiting_runs.c.thread_id == bindparam("of_thread")).label("is_waited"))
)
_RELEASE = update(threads).where(*HOLDS).values(**NO_LEASE)


def _until(*, is_postgres: bool) -> ColumnElement[Any]:
    """When a lease ends that begins now: on a database of several servers by its own clock, for theirs may differ."""
    if is_postgres:
        return func.clock_timestamp() + bindparam("seconds", type_=Float) * literal_column("interval '1 second'")
    return bindparam("until", type_=Moment())


@cache
def _take(*, is_postgres: bool) -> Executable:
    taken = update(threads).where(threads.c.id == bindparam("of_thread"), IS_ALIVE)
    return taken.values(
        epoch=threads.c.epoch + 1,
        lease_worker=bindparam("worker"),
        lease_run=bindparam("run"),
        lease_until=_until(is_postgres=is_postgres),
        status=literal_column(f"'{ThreadStatus.RUNNING}'"),
        updated_at=bindparam("at"),
    ).returning(threads.c.epoch)


class SqlLeases(Repository):
    async def take(self, thread_id: str, run_id: str, worker: str, at: datetime, seconds: float) -> Lease:
        values = {"of_thread": thread_id, "worker": worker, "run": run_id, "at": at, **self._length(at, seconds)}
        epoch = await self._connection.scalar(_take(is_postgres=self._is_postgres), values)
        if epoch is None:
            raise LeaseLost(f"the thread {thread_id} is gone")
        return Lease(thread_id, run_id, worker, epoch)

    async def check(self, lease: Lease) -> Thread:
        row = (await self._connection.execute(_CHECK, holder(lease))).one_or_none()
        if row is None:
            raise lease_lost(lease)
        return thread_of(row)

    async def end(self, lease: Lease, status: ThreadStatus, at: datetime, message_count: int | None) -> bool:
        values = {**holder(lease), "to_status": status, "at": at, "count": message_count}
        is_waited: bool | None = await self._connection.scalar(_END, values)
        if is_waited is None:
            raise lease_lost(lease)
        return bool(is_waited)

    async def renew(self, worker: str, thread_ids: Collection[str], at: datetime, seconds: float) -> set[str]:
        held_ids: set[str] = set()
        until = _until(is_postgres=self._is_postgres)
        for some in batched(thread_ids):
            renewed = await self._connection.execute(
                update(threads)
                .where(threads.c.id.in_(some), threads.c.lease_worker == worker, IS_ALIVE)
                .values(lease_until=until)
                .returning(threads.c.id),
                self._length(at, seconds),
            )
            held_ids |= set(renewed.scalars())
        return held_ids

    async def release(self, lease: Lease) -> None:
        await self._connection.execute(_RELEASE, holder(lease))

    async def active(self, limit: int) -> list[LeaseRecord]:
        found = await self._connection.execute(
            select(threads.c.id, threads.c.lease_run, threads.c.lease_worker, threads.c.epoch, threads.c.lease_until)
            .join(runs, runs.c.id == threads.c.lease_run)
            .where(IS_ACTIVE, threads.c.lease_worker.is_not(None), IS_ALIVE)
            .order_by(threads.c.lease_worker, threads.c.id)
            .limit(limit)
        )
        return [LeaseRecord(row.id, row.lease_run, row.lease_worker, row.epoch, row.lease_until) for row in found]

    async def requeue_lost(self, at: datetime | None) -> list[str]:
        if at is None:
            return await self._requeue()
        now = func.clock_timestamp() if self._is_postgres else literal(at, Moment())
        return await self._requeue(or_(threads.c.lease_until < now, threads.c.lease_worker.is_(None)))

    async def requeue_of(self, worker: str) -> list[str]:
        return await self._requeue(threads.c.lease_worker == worker)

    async def _requeue(self, *which: ColumnElement[bool]) -> list[str]:
        lost = (
            select(runs.c.id, runs.c.thread_id)
            .join(threads, threads.c.id == runs.c.thread_id)
            .where(IS_ACTIVE, runs.c.status == RunStatus.RUNNING, IS_ALIVE, *which)
            .order_by(runs.c.created_at, runs.c.id)
            .with_for_update(of=[runs, threads], skip_locked=True)
        )
        found = (await self._connection.execute(lost)).all()
        for some in batched(found):
            run_ids, thread_ids = [row.id for row in some], [row.thread_id for row in some]
            await self._connection.execute(update(runs).where(runs.c.id.in_(run_ids)).values(status=RunStatus.QUEUED))
            await self._connection.execute(
                update(threads).where(threads.c.id.in_(thread_ids)).values(epoch=threads.c.epoch + 1, **NO_LEASE)
            )
        return [row.id for row in found]

    def _length(self, at: datetime, seconds: float) -> dict[str, Any]:
        return {"seconds": seconds} if self._is_postgres else {"until": at + timedelta(seconds=seconds)}

    async def fence_off_all(self) -> None:
        await self._connection.execute(update(threads).values(epoch=threads.c.epoch + 1, **NO_LEASE))


def holder(lease: Lease) -> dict[str, Any]:
    return {"of_thread": lease.thread_id, "of_epoch": lease.epoch, "of_worker": lease.worker}


def lease_lost(lease: Lease) -> LeaseLost:
    return LeaseLost(f"{lease.worker} no longer holds the lease of {lease.thread_id}")
