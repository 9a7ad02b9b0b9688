"""Runs, at most one of them active on a thread."""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Executable, Row, bindparam, func, literal_column, select, update

from interlock.domain import run_input
from interlock.domain.errors import ThreadBusy
from interlock.domain.run import ACTIVE, RUN, Run, RunCause, RunStatus
from interlock.domain.thread import ThreadStatus
from interlock.storage._repository import Repository, batched, insert_for, next_number, one_of
from interlock.storage.schema import runs, threads

# Written out, not bound: only then can a partial index serve the query.
IS_ACTIVE = one_of(runs.c.status, ACTIVE)
IS_QUEUED = runs.c.status == literal_column(f"'{RunStatus.QUEUED}'")

_COUNTS = select(runs.c.status, func.count().label("number")).where(IS_ACTIVE).group_by(runs.c.status)
_BY_ID = select(runs).where(runs.c.id == bindparam("run_id"))
_ACTIVE_OF = select(runs).where(runs.c.thread_id == bindparam("thread_id"), IS_ACTIVE)
_other = runs.alias()
_LAST_OF = (
    select(runs)
    .where(runs.c.thread_id == bindparam("thread_id"))
    .order_by(runs.c.number.desc())
    .limit(literal_column("1"))
)
_LAST_OF_EACH = select(runs).join_from(
    threads,
    runs,
    (runs.c.thread_id == threads.c.id)
    & (runs.c.number == select(func.max(_other.c.number)).where(_other.c.thread_id == threads.c.id).scalar_subquery()),
)
"""From the threads: the number is looked up in the index, once for each."""
_LAST_MESSAGE_OF = _LAST_OF.where(runs.c.cause == literal_column(f"'{RunCause.MESSAGE}'"))
# The thread is taken together with its run, and neither is waited for: whoever locked the run first and then waited
# for the thread would stand in the way of everybody who goes the other way round.
_OLDEST_QUEUED = (
    select(runs)
    .join(threads, threads.c.id == runs.c.thread_id)
    .where(IS_QUEUED)
    .order_by(runs.c.created_at, runs.c.id)
    .limit(literal_column("1"))
    .with_for_update(of=[runs, threads], skip_locked=True)
)
_THREAD_OF_RUN = (
    select(threads.c.id)
    .where(threads.c.id == select(runs.c.thread_id).where(runs.c.id == bindparam("run_id")).scalar_subquery())
    .with_for_update()
)
_STOP_OF = select(runs.c.id, runs.c.stop_reason).where(
    runs.c.id == bindparam("run_id"), runs.c.stop_reason.is_not(None)
)


@cache
def _add(*, is_postgres: bool) -> Executable:
    added = insert_for(runs, is_postgres=is_postgres).values(number=next_number(runs.c.number))
    return added.on_conflict_do_nothing(index_elements=[runs.c.thread_id], index_where=IS_ACTIVE)


@cache
def _change(status: RunStatus, names: tuple[str, ...]) -> Executable:
    changes: dict[str, Any] = {name.removeprefix("new_"): bindparam(name) for name in names}
    if status is RunStatus.RUNNING:
        changes["attempt"] = runs.c.attempt + literal_column("1")
    changed = update(runs).where(runs.c.id == bindparam("run_id"), one_of(runs.c.status, RUN.sources(status)))
    return changed.values(status=literal_column(f"'{status}'"), **changes)


class SqlRuns(Repository):
    async def add(self, run: Run) -> None:
        if not await self._changed(_add(is_postgres=self._is_postgres), _values(run)):
            raise ThreadBusy(f"the thread {run.thread_id} has a run already", run.thread_id, ThreadStatus.RUNNING)

    async def get(self, run_id: str) -> Run | None:
        return await self._one(_BY_ID, run_id=run_id)

    async def active_of(self, thread_id: str) -> Run | None:
        return await self._one(_ACTIVE_OF, thread_id=thread_id)

    async def last_of(self, thread_id: str) -> Run | None:
        return await self._one(_LAST_OF, thread_id=thread_id)

    async def last_of_each(self, thread_ids: Collection[str]) -> dict[str, Run]:
        found: dict[str, Run] = {}
        for some in batched(thread_ids):
            rows = await self._connection.execute(_LAST_OF_EACH.where(threads.c.id.in_(some)))
            found |= {row.thread_id: _run(row) for row in rows}
        return found

    async def of_thread(self, thread_id: str) -> list[Run]:
        found = await self._connection.execute(
            select(runs).where(runs.c.thread_id == thread_id).order_by(runs.c.number)
        )
        return [_run(row) for row in found]

    async def newest(
        self, thread_id: str, limit: int, offset: int = 0, statuses: Collection[RunStatus] = tuple(RunStatus)
    ) -> list[Run]:
        query = select(runs).where(runs.c.thread_id == thread_id, runs.c.status.in_(statuses))
        found = await self._connection.execute(query.order_by(runs.c.number.desc()).offset(offset).limit(limit))
        return [_run(row) for row in found]

    async def last_message_of(self, thread_id: str) -> Run | None:
        return await self._one(_LAST_MESSAGE_OF, thread_id=thread_id)

    async def next_queued(self, run_id: str | None = None) -> Run | None:
        if run_id is None:
            return await self._one(_OLDEST_QUEUED)
        if self._is_postgres:
            # Waited for, not skipped: what holds the thread is most often not a worker that takes the run.
            await self._connection.execute(_THREAD_OF_RUN, {"run_id": run_id})
        return await self._one(_BY_ID.where(IS_QUEUED), run_id=run_id)

    async def change(self, run_id: str, status: RunStatus, at: datetime, *, error: str | None = None) -> bool:
        values: dict[str, Any] = {}
        if RUN.is_final(status):
            values["new_ended_at"] = at
        if error is not None:
            values["new_error"] = error
        return await self._changed(_change(status, tuple(values)), {"run_id": run_id, **values})

    async def counts(self) -> dict[RunStatus, int]:
        found = await self._connection.execute(_COUNTS)
        return {status: 0 for status in ACTIVE} | {RunStatus(row.status): row.number for row in found}

    async def request_stop(self, run_id: str, reason: str) -> None:
        # The first reason stays: it is the one that stopped the run.
        first = func.coalesce(runs.c.stop_reason, reason)
        await self._connection.execute(update(runs).where(runs.c.id == run_id, IS_ACTIVE).values(stop_reason=first))

    async def stop_requested(self, run_ids: Collection[str]) -> dict[str, str]:
        if len(run_ids) == 1:
            found = await self._connection.execute(_STOP_OF, {"run_id": next(iter(run_ids))})
            return {row.id: row.stop_reason for row in found}
        reasons: dict[str, str] = {}
        for some in batched(run_ids):
            query = select(runs.c.id, runs.c.stop_reason).where(runs.c.id.in_(some), runs.c.stop_reason.is_not(None))
            reasons |= {row.id: row.stop_reason for row in await self._connection.execute(query)}
        return reasons

    async def _one(self, statement: Executable, **values: str) -> Run | None:
        row = (await self._connection.execute(statement, values)).one_or_none()
        return None if row is None else _run(row)


def _values(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "thread_id": run.thread_id,
        "of_thread": run.thread_id,
        "cause": run.cause,
        "status": run.status,
        "input": run_input.to_json(run.input),
        "attempt": run.attempt,
        "started_seq": run.started_seq,
        "stop_reason": run.stop_reason,
        "detached": run.detached,
        "error": run.error,
        "created_at": run.created_at,
    }


def _run(row: Row[Any]) -> Run:
    return Run(
        id=row.id,
        thread_id=row.thread_id,
        cause=RunCause(row.cause),
        status=RunStatus(row.status),
        created_at=row.created_at,
        input=run_input.from_json(row.input),
        attempt=row.attempt,
        started_seq=row.started_seq,
        stop_reason=row.stop_reason,
        detached=row.detached,
        error=row.error,
    )
