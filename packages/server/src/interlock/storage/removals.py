"""Deleted threads of which rows are left."""

from sqlalchemy import delete, select

from interlock.domain.thread import Removal
from interlock.storage._repository import Repository, insert_for
from interlock.storage.schema import removals

_NEXT = select(removals).order_by(removals.c.at, removals.c.thread_id).limit(1).with_for_update(skip_locked=True)


class SqlRemovals(Repository):
    async def add(self, removal: Removal) -> None:
        values = {"thread_id": removal.thread_id, "by_id": removal.by_id, "by_name": removal.by_name, "at": removal.at}
        await self._connection.execute(insert_for(removals, is_postgres=self._is_postgres).values(values))

    async def next(self) -> Removal | None:
        row = (await self._connection.execute(_NEXT)).one_or_none()
        return None if row is None else Removal(row.thread_id, row.by_id, row.by_name, row.at)

    async def finish(self, thread_id: str) -> None:
        await self._connection.execute(delete(removals).where(removals.c.thread_id == thread_id))
