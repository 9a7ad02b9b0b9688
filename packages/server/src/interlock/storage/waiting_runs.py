"""Runs that wait their turn. They are no rows of `runs`: there one is active, and the last is last."""

from typing import Any, cast

from sqlalchemy import Row, bindparam, delete, func, insert, literal_column, select

from interlock.domain import run_input
from interlock.domain.run import WaitingRun
from interlock.domain.run_input import GraphInput, MessageInput
from interlock.domain.thread import ThreadStatus
from interlock.storage._repository import Repository, next_number
from interlock.storage.schema import threads, waiting_runs

_ADD = insert(waiting_runs).values(number=next_number(waiting_runs.c.number))
_BY_ID = select(waiting_runs).where(waiting_runs.c.id == bindparam("run_id"))
_OF_THREAD = (
    select(waiting_runs).where(waiting_runs.c.thread_id == bindparam("thread_id")).order_by(waiting_runs.c.number)
)
_FIRST = _OF_THREAD.limit(literal_column("1"))
_COUNT = select(func.count()).where(waiting_runs.c.thread_id == bindparam("thread_id"))
_REMOVE = delete(waiting_runs).where(waiting_runs.c.id == bindparam("run_id"))
_STRANDED = (
    select(waiting_runs.c.thread_id)
    .join(threads, threads.c.id == waiting_runs.c.thread_id)
    .where(threads.c.status == literal_column(f"'{ThreadStatus.IDLE}'"))
    .distinct()
    .limit(bindparam("limit"))
)


class SqlWaitingRuns(Repository):
    async def add(self, run: WaitingRun) -> None:
        values = {
            "id": run.id,
            "thread_id": run.thread_id,
            "of_thread": run.thread_id,
            "input": run_input.to_json(run.input),
            "detached": run.detached,
            "by_id": run.by_id,
            "by_name": run.by_name,
            "created_at": run.created_at,
        }
        await self._connection.execute(_ADD, values)

    async def get(self, run_id: str) -> WaitingRun | None:
        return _waiting_run((await self._connection.execute(_BY_ID, {"run_id": run_id})).one_or_none())

    async def first_of(self, thread_id: str) -> WaitingRun | None:
        return _waiting_run((await self._connection.execute(_FIRST, {"thread_id": thread_id})).one_or_none())

    async def of_thread(self, thread_id: str) -> list[WaitingRun]:
        found = await self._connection.execute(_OF_THREAD, {"thread_id": thread_id})
        return [run for row in found if (run := _waiting_run(row))]

    async def count_of(self, thread_id: str) -> int:
        return await self._connection.scalar(_COUNT, {"thread_id": thread_id}) or 0

    async def remove(self, run_id: str) -> bool:
        return await self._changed(_REMOVE, {"run_id": run_id})

    async def list_stranded(self, limit: int) -> list[str]:
        return list((await self._connection.execute(_STRANDED, {"limit": limit})).scalars())


def _waiting_run(row: Row[Any] | None) -> WaitingRun | None:
    if row is None:
        return None
    given = cast("MessageInput | GraphInput", run_input.from_json(row.input))
    return WaitingRun(row.id, row.thread_id, given, row.by_id, row.by_name, row.created_at, row.detached)
