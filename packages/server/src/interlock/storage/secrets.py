"""Values that people gave. They are sealed here, bound to their handles; the database never sees them in clear."""

from datetime import datetime

from sqlalchemy import bindparam, delete, insert, select

from interlock.storage._repository import SealedRepository, next_number
from interlock.storage.schema import secrets, threads

_ADD = insert(secrets).values(number=next_number(secrets.c.number))
_OF_THREAD = (
    select(secrets.c.handle, secrets.c.name, secrets.c.sealed)
    .where(secrets.c.thread_id == bindparam("thread_id"))
    .order_by(secrets.c.number)
)


class SqlSecrets(SealedRepository):
    async def put(self, handle: str, thread_id: str, request_id: str, name: str, value: str, at: datetime) -> None:
        await self._connection.execute(
            _ADD,
            {
                "handle": handle,
                "thread_id": thread_id,
                "of_thread": thread_id,
                "request_id": request_id,
                "name": name,
                "sealed": await self._seal(value, context=handle),
                "created_at": at,
            },
        )

    async def of_thread(self, thread_id: str) -> dict[str, tuple[str, str]]:
        found = await self._connection.execute(_OF_THREAD, {"thread_id": thread_id})
        return {row.handle: (row.name, await self._open(row.sealed, context=row.handle)) for row in found.all()}

    async def of_request(self, request_id: str) -> dict[str, str]:
        found = await self._connection.execute(
            select(secrets.c.handle, secrets.c.name, secrets.c.sealed).where(secrets.c.request_id == request_id)
        )
        return {row.name: await self._open(row.sealed, context=row.handle) for row in found}

    async def destroy_of_request(self, request_id: str) -> None:
        await self._connection.execute(delete(secrets).where(secrets.c.request_id == request_id))

    async def destroy_uncollected(self, before: datetime) -> None:
        outside = select(threads.c.id).where(threads.c.asker_id.is_not(None))
        old = delete(secrets).where(secrets.c.created_at < before, secrets.c.thread_id.in_(outside))
        await self._connection.execute(old)

    async def destroy_of_thread(self, thread_id: str) -> None:
        await self._connection.execute(delete(secrets).where(secrets.c.thread_id == thread_id))
