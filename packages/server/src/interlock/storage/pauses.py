"""Pauses, and the requests that came with them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Executable, Row, bindparam, insert, literal_column, select, update

from interlock.domain.request import PAUSE, Pause, PauseOrigin, PauseStatus, Request
from interlock.storage._repository import Repository, batched, next_number, one_of
from interlock.storage.requests import request_values
from interlock.storage.schema import pauses, requests

_ADD = insert(pauses).values(seq=next_number(pauses.c.seq))
_ADD_REQUESTS = insert(requests)
_BY_ID = select(pauses).where(pauses.c.id == bindparam("pause_id"))
_OF_THREAD = (
    select(pauses)
    .where(pauses.c.thread_id == bindparam("thread_id"), pauses.c.status == bindparam("status"))
    .order_by(pauses.c.seq)
)
_FIRST = _OF_THREAD.limit(bindparam("limit"))
_NEWEST = _OF_THREAD.order_by(None).order_by(pauses.c.seq.desc())
_OPENED_BY = select(pauses).where(
    pauses.c.thread_id == bindparam("thread_id"), pauses.c.opened_seq == bindparam("opened_seq")
)


@cache
def _change(status: PauseStatus) -> Executable:
    changed = update(pauses).where(pauses.c.id == bindparam("pause_id"), one_of(pauses.c.status, PAUSE.sources(status)))
    return changed.values(status=literal_column(f"'{status}'"), changed_at=bindparam("at"))


class SqlPauses(Repository):
    async def add(self, pause: Pause, requests: Sequence[Request]) -> None:
        await self._connection.execute(
            _ADD,
            {
                "id": pause.id,
                "thread_id": pause.thread_id,
                "of_thread": pause.thread_id,
                "run_id": pause.run_id,
                "status": pause.status,
                "origin": pause.origin,
                "node": pause.node,
                "opened_seq": pause.opened_seq,
                "created_at": pause.created_at,
            },
        )
        if requests:
            await self._connection.execute(_ADD_REQUESTS, [request_values(request) for request in requests])

    async def get(self, pause_id: str) -> Pause | None:
        row = (await self._connection.execute(_BY_ID, {"pause_id": pause_id})).one_or_none()
        return None if row is None else _pause(row)

    async def of_thread(self, thread_id: str, status: PauseStatus, limit: int | None = None) -> list[Pause]:
        values: dict[str, Any] = {"thread_id": thread_id, "status": status}
        if limit is None:
            found = await self._connection.execute(_OF_THREAD, values)
        else:
            found = await self._connection.execute(_FIRST, {**values, "limit": limit})
        return [_pause(row) for row in found]

    async def open_of_each(self, thread_ids: Collection[str]) -> dict[str, Pause]:
        found: dict[str, Pause] = {}
        query = select(pauses).where(pauses.c.status == PauseStatus.OPEN).order_by(pauses.c.seq)
        for some in batched(thread_ids):
            for row in await self._connection.execute(query.where(pauses.c.thread_id.in_(some))):
                found.setdefault(row.thread_id, _pause(row))
        return found

    async def newest(self, thread_id: str, limit: int) -> list[Pause]:
        found: list[Row[Any]] = []
        # One status after the other: in the order of an index, and no further than asked.
        for status in PauseStatus:
            parameters = {"thread_id": thread_id, "status": status}
            found += (await self._connection.execute(_NEWEST.limit(limit), parameters)).all()
        return [_pause(row) for row in sorted(found, key=lambda row: row.seq, reverse=True)[:limit]]

    async def opened_by(self, thread_id: str, seq: int) -> Pause | None:
        found = await self._connection.execute(_OPENED_BY, {"thread_id": thread_id, "opened_seq": seq})
        row = found.one_or_none()
        return None if row is None else _pause(row)

    async def change(self, pause_id: str, status: PauseStatus, at: datetime) -> bool:
        return await self._changed(_change(status), {"pause_id": pause_id, "at": at})


def _pause(row: Row[Any]) -> Pause:
    return Pause(
        id=row.id,
        thread_id=row.thread_id,
        run_id=row.run_id,
        status=PauseStatus(row.status),
        origin=PauseOrigin(row.origin),
        node=row.node,
        created_at=row.created_at,
        opened_seq=row.opened_seq,
    )
