"""Whether anything has changed about who may do what: one number, which every such change raises, and whose it was."""

from sqlalchemy import select

from interlock.storage._repository import Repository, insert_for
from interlock.storage.schema import marks

_ACCESS = "access"
_OF = "access:"
_VERSION = select(marks.c.value).where(marks.c.name == _ACCESS)


class SqlAccess(Repository):
    async def version(self) -> int:
        return await self._connection.scalar(_VERSION) or 0

    async def list_changed_since(self, version: int) -> set[str]:
        later = marks.c.name.startswith(_OF, autoescape=True), marks.c.value > version
        found = await self._connection.scalars(select(marks.c.name).where(*later))
        return {name.removeprefix(_OF) for name in found}

    async def record_change(self, user_id: str) -> None:
        first = insert_for(marks, is_postgres=self._is_postgres).values(name=_ACCESS, value=1)
        raised = first.on_conflict_do_update(index_elements=["name"], set_={"value": marks.c.value + 1})
        # The row stays locked: numbers come to be seen in their order.
        version = await self._connection.scalar(raised.returning(marks.c.value))
        whose = insert_for(marks, is_postgres=self._is_postgres).values(name=f"{_OF}{user_id}", value=version)
        await self._connection.execute(whose.on_conflict_do_update(index_elements=["name"], set_={"value": version}))
