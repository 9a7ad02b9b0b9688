"""Threads. A deleted one keeps its row, so that its id is never used again and its workers stay fenced off."""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Executable,
    Row,
    bindparam,
    delete,
    func,
    literal_column,
    select,
    tuple_,
    update,
)

from interlock.domain.errors import Conflict
from interlock.domain.json_value import JsonObject
from interlock.domain.request import RequestStatus
from interlock.domain.thread import Thread, ThreadStatus
from interlock.domain.webhook import DeliveryStatus
from interlock.ports.filters import LAST_TOUCHED_FIRST, ThreadFilter, ThreadOrder
from interlock.storage._repository import Repository, batched, insert_for
from interlock.storage._thread_search import count, search
from interlock.storage.requests import SqlRequests
from interlock.storage.schema import (
    checkpoint_blobs,
    checkpoint_writes,
    checkpoints,
    deliveries,
    effects,
    events,
    pauses,
    policy_shadow_words,
    requests,
    runs,
    secrets,
    threads,
    users,
    waiting_runs,
)

THREAD_COLUMNS: tuple[Column[Any], ...] = (
    threads.c.id,
    threads.c.owner_id,
    threads.c.agent,
    threads.c.title,
    threads.c.status,
    threads.c.seq,
    threads.c.epoch,
    threads.c.message_count,
    threads.c.created_at,
    threads.c.updated_at,
    threads.c.asker_id,
    threads.c.face,
    threads.c.metadata,
)
IS_ALIVE = threads.c.status != ThreadStatus.DELETED
NO_LEASE = {"lease_worker": None, "lease_run": None, "lease_until": None}

_BY_ID = select(*THREAD_COLUMNS).where(threads.c.id == bindparam("thread_id"), IS_ALIVE)
# SQLite has one writer at a time, and SQLAlchemy leaves FOR UPDATE out there.
_BY_ID_LOCKED = _BY_ID.with_for_update()
_PRESENT = (
    select(*THREAD_COLUMNS)
    .where(threads.c.face == bindparam("face"), threads.c.owner_id == bindparam("owner_id"), IS_ALIVE)
    .order_by(threads.c.created_at.desc(), threads.c.id)
    .limit(literal_column("1"))
)
_PRESENT_LOCKED = _PRESENT.with_for_update()
_ONE_AT_A_TIME = select(func.pg_advisory_xact_lock(func.hashtextextended(bindparam("key"), 0)))
_OWNED_TABLES = (
    checkpoints, checkpoint_blobs, checkpoint_writes, effects, requests, pauses, runs, waiting_runs, deliveries, events,
    policy_shadow_words,
)  # fmt: skip


@cache
def _add(*, is_postgres: bool) -> Executable:
    return insert_for(threads, is_postgres=is_postgres).on_conflict_do_nothing()


@cache
def _update(names: tuple[str, ...]) -> Executable:
    changes: dict[str, Any] = {name: bindparam(f"new_{name}") for name in names}
    return update(threads).where(threads.c.id == bindparam("thread_id"), IS_ALIVE).values(**changes)


class SqlThreads(Repository):
    async def add(self, thread: Thread) -> None:
        added = await self._changed(
            _add(is_postgres=self._is_postgres),
            {
                "id": thread.id,
                "owner_id": thread.owner_id,
                "agent": thread.agent,
                "title": thread.title,
                "status": thread.status,
                "seq": thread.seq,
                "message_count": thread.message_count,
                "epoch": thread.epoch,
                "created_at": thread.created_at,
                "updated_at": thread.updated_at,
                "asker_id": thread.asker_id,
                "face": thread.face,
                "metadata": thread.metadata,
            },
        )
        if not added:
            raise Conflict(f"the thread id {thread.id!r} was used before")

    async def get(self, thread_id: str) -> Thread | None:
        return await self._one(_BY_ID, thread_id)

    async def lock(self, thread_id: str) -> Thread | None:
        return await self._one(_BY_ID_LOCKED, thread_id)

    async def of_ids(self, thread_ids: Collection[str]) -> dict[str, Thread]:
        found: dict[str, Thread] = {}
        for some in batched(thread_ids):
            rows = await self._connection.execute(select(*THREAD_COLUMNS).where(threads.c.id.in_(some), IS_ALIVE))
            found |= {row.id: thread_of(row) for row in rows}
        return found

    async def page(self, owner_id: str, offset: int, limit: int) -> tuple[list[Thread], int]:
        mine = (threads.c.owner_id == owner_id, IS_ALIVE)
        total = await self._connection.scalar(select(func.count()).select_from(threads).where(*mine))
        found = await self._connection.execute(
            select(*THREAD_COLUMNS)
            .where(*mine)
            .order_by(threads.c.updated_at.desc(), threads.c.id)
            .offset(offset)
            .limit(limit)
        )
        return [thread_of(row) for row in found], total or 0

    async def search(
        self, query: ThreadFilter, offset: int, limit: int, order: ThreadOrder = LAST_TOUCHED_FIRST
    ) -> list[Thread]:
        rows = await search(self._connection, query, order, THREAD_COLUMNS, offset, limit)
        return [thread_of(row) for row in rows]

    async def count(self, query: ThreadFilter) -> int:
        return await count(self._connection, query)

    async def newest(self, limit: int) -> list[Thread]:
        ordered = select(*THREAD_COLUMNS).where(IS_ALIVE).order_by(threads.c.updated_at.desc(), threads.c.id)
        return [thread_of(row) for row in await self._connection.execute(ordered.limit(limit))]

    async def busy_of(self, owner_id: str, after: str, limit: int) -> list[str]:
        busy = threads.c.status.in_([ThreadStatus.RUNNING, ThreadStatus.PAUSED])
        theirs = select(threads.c.id).where(threads.c.owner_id == owner_id, busy, threads.c.id > after)
        return list((await self._connection.execute(theirs.order_by(threads.c.id).limit(limit))).scalars())

    async def idle_since(self, before: datetime, limit: int, face: str | None = None) -> list[str]:
        # Once an hour, and many at a time: an index for it would cost every run more than the look does.
        idle = select(threads.c.id).where(*_idle_since(before)).order_by(threads.c.updated_at, threads.c.id)
        if face is not None:
            idle = idle.where(threads.c.face == face)
        return list((await self._connection.execute(idle.limit(limit))).scalars())

    async def count_idle_since(self, before: datetime) -> int:
        count = select(func.count()).select_from(threads).where(*_idle_since(before))
        return await self._connection.scalar(count) or 0

    async def newest_of(self, face: str, owner_id: str) -> Thread | None:
        return await self._newest(_PRESENT, face, owner_id)

    async def lock_newest_of(self, face: str, owner_id: str) -> Thread | None:
        # A row that is not there yet cannot be locked. SQLite has one writer at a time anyway.
        if self._is_postgres:
            await self._connection.execute(_ONE_AT_A_TIME, {"key": f"{face} {owner_id}"})
        return await self._newest(_PRESENT_LOCKED, face, owner_id)

    async def owners(self, face: str) -> list[str]:
        names = (
            select(users.c.username)
            .join(threads, threads.c.owner_id == users.c.id)
            .where(threads.c.face == face, IS_ALIVE)
            .distinct()
        )
        # Databases differ in how they order names.
        return sorted((await self._connection.execute(names)).scalars())

    async def update(
        self,
        thread_id: str,
        at: datetime,
        *,
        status: ThreadStatus | None = None,
        title: str | None = None,
        message_count: int | None = None,
        metadata: JsonObject | None = None,
        agent: str | None = None,
    ) -> None:
        given = {
            "agent": agent,
            "status": status,
            "title": title,
            "message_count": message_count,
            "metadata": metadata,
            "updated_at": at,
        }
        values = {name: value for name, value in given.items() if value is not None}
        new = {f"new_{name}": value for name, value in values.items()}
        await self._connection.execute(_update(tuple(values)), {"thread_id": thread_id, **new})

    async def delete(self, thread_id: str, at: datetime) -> None:
        marked = update(threads).where(threads.c.id == thread_id, IS_ALIVE)
        await self._connection.execute(
            marked.values(status=ThreadStatus.DELETED, epoch=threads.c.epoch + 1, updated_at=at, **NO_LEASE)
        )
        await self._connection.execute(delete(secrets).where(secrets.c.thread_id == thread_id))

    async def drop(self, thread_id: str, most: int) -> bool:
        settled = requests.c.thread_id == thread_id, requests.c.status != RequestStatus.PENDING
        # Chosen once: answers are found by their requests only, and go in the same moment.
        ids = list(await self._connection.scalars(select(requests.c.id).where(*settled).limit(most)))
        await SqlRequests(self._connection).drop(ids)
        # The last event stays: it tells followers that the thread is gone.
        last = select(threads.c.seq).where(threads.c.id == thread_id).scalar_subquery()
        # What webhooks were told goes too; what they are still to be told, the end of its requests, does not.
        left_out = {
            events: events.c.seq < last,
            deliveries: deliveries.c.status != DeliveryStatus.WAITING,
        }
        is_left = len(ids) >= most
        for table in (table for table in _OWNED_TABLES if table is not requests):
            key = tuple_(*table.primary_key.columns)
            mine = select(*table.primary_key.columns).where(table.c.thread_id == thread_id)
            if table in left_out:
                mine = mine.where(left_out[table])
            dropped = await self._connection.execute(delete(table).where(key.in_(mine.limit(most))))
            is_left = is_left or dropped.rowcount >= most
        return is_left

    async def _one(self, statement: Executable, thread_id: str) -> Thread | None:
        row = (await self._connection.execute(statement, {"thread_id": thread_id})).one_or_none()
        return None if row is None else thread_of(row)

    async def _newest(self, statement: Executable, face: str, owner_id: str) -> Thread | None:
        row = (await self._connection.execute(statement, {"face": face, "owner_id": owner_id})).one_or_none()
        return None if row is None else thread_of(row)


def _idle_since(before: datetime) -> tuple[ColumnElement[bool], ...]:
    return threads.c.status == ThreadStatus.IDLE, threads.c.updated_at < before


def thread_of(row: Row[Any]) -> Thread:
    return Thread(
        id=row.id,
        owner_id=row.owner_id,
        agent=row.agent,
        title=row.title,
        status=ThreadStatus(row.status),
        seq=row.seq,
        epoch=row.epoch,
        message_count=row.message_count,
        created_at=row.created_at,
        updated_at=row.updated_at,
        asker_id=row.asker_id,
        face=row.face,
        metadata=row.metadata,
    )
