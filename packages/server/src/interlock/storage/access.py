"""Whether anything has changed about who may do what: one number, which every such change raises."""

from sqlalchemy import select

from interlock.storage._repository import Repository, insert_for
from interlock.storage.schema import marks

_ACCESS = "access"
_VERSION = select(marks.c.value).where(marks.c.name == _ACCESS)


class SqlAccess(Repository):
    async def version(self) -> int:
        return await self._connection.scalar(_VERSION) or 0

    async def changed(self) -> None:
        first = insert_for(marks, is_postgres=self._is_postgres).values(name=_ACCESS, value=1)
        raised = {"value": marks.c.value + 1}
        await self._connection.execute(first.on_conflict_do_update(index_elements=["name"], set_=raised))
