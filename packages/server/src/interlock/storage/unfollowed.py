"""Questions of servers whether a thread is followed at another."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import delete, exists, select

from interlock.storage._repository import Repository, batched, insert_for
from interlock.storage.schema import unfollowed


class SqlFollowerQuestions(Repository):
    async def ask(self, thread_id: str, mark: str, at: datetime) -> None:
        values = {"thread_id": thread_id, "mark": mark, "at": at}
        add = insert_for(unfollowed, is_postgres=self._is_postgres).values(values)
        await self._connection.execute(
            add.on_conflict_do_update(index_elements=["thread_id"], set_={"mark": mark, "at": at})
        )

    async def open_questions(self) -> list[str]:
        return list(await self._connection.scalars(select(unfollowed.c.thread_id)))

    async def answer_followed(self, thread_ids: Collection[str]) -> None:
        for some in batched(thread_ids):
            await self._connection.execute(delete(unfollowed).where(unfollowed.c.thread_id.in_(some)))

    async def is_open(self, thread_id: str, mark: str) -> bool:
        mine = exists().where(unfollowed.c.thread_id == thread_id, unfollowed.c.mark == mark)
        return bool(await self._connection.scalar(select(mine)))

    async def take_back(self, thread_id: str, mark: str) -> bool:
        mine = unfollowed.c.thread_id == thread_id, unfollowed.c.mark == mark
        return await self._changed(delete(unfollowed).where(*mine))

    async def forget(self, before: datetime) -> None:
        await self._connection.execute(delete(unfollowed).where(unfollowed.c.at < before))
