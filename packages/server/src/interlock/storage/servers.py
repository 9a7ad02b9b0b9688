"""Servers that share the database: one mark each, the moment at which it last began to look what the others ask."""

from datetime import datetime

from sqlalchemy import delete, exists, select, text

from interlock.storage._repository import Repository, insert_for
from interlock.storage.schema import marks

_OF = "server:"
# When the transaction began: what was committed before then is seen in it.
_NOW = text("SELECT (extract(epoch FROM now()) * 1000)::bigint")


class SqlServers(Repository):
    async def moment(self, now: datetime) -> int:
        if self._is_postgres:
            return (await self._connection.execute(_NOW)).scalar_one()
        return int(now.timestamp() * 1000)

    async def sign(self, server: str, moment: int, forgotten: int) -> None:
        add = insert_for(marks, is_postgres=self._is_postgres).values(name=_OF + server, value=moment)
        await self._connection.execute(add.on_conflict_do_update(index_elements=["name"], set_={"value": moment}))
        is_old = marks.c.value < moment - forgotten
        await self._connection.execute(delete(marks).where(marks.c.name.startswith(_OF, autoescape=True), is_old))

    async def leave(self, server: str) -> None:
        await self._connection.execute(delete(marks).where(marks.c.name == _OF + server))

    async def any_between(self, first: int, last: int, besides: str) -> bool:
        others = marks.c.name.startswith(_OF, autoescape=True), marks.c.name != _OF + besides
        found = select(exists().where(*others, marks.c.value.between(first, last)))
        return bool(await self._connection.scalar(found))
