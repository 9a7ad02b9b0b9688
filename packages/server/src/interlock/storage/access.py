"""Whether anything has changed about who may do what: one number, which every such change raises."""

from sqlalchemy import select, update

from interlock.storage._repository import Repository
from interlock.storage.schema import marks

_ACCESS = "access"
_VERSION = select(marks.c.value).where(marks.c.name == _ACCESS)
_RAISE = update(marks).where(marks.c.name == _ACCESS).values(value=marks.c.value + 1)


class SqlAccess(Repository):
    async def version(self) -> int:
        return await self._connection.scalar(_VERSION) or 0

    async def changed(self) -> None:
        await self._connection.execute(_RAISE)
