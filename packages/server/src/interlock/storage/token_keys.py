"""The keys behind people's tokens: in the ring, and looked for in the database when another process changed them."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.errors import StorageUnavailable, Unreadable
from interlock.storage.database import Database
from interlock.storage.key_ring import TOKENS, KeyRing, key_id
from interlock.storage.schema import server_keys

_NEWEST = select(func.max(server_keys.c.id)).where(server_keys.c.purpose == TOKENS)


class RingTokenKeys:
    def __init__(self, database: Database, ring: KeyRing) -> None:
        self._database = database
        self._ring = ring

    async def newest(self) -> tuple[int, bytes]:
        async with self._database.read() as connection:
            if await connection.scalar(_NEWEST) != key_id(max(self._ring.tokens)):
                await self._reload(connection)
        number = max(self._ring.tokens)
        return number, self._ring.tokens[number]

    async def get(self, number: int) -> bytes | None:
        # Numbers only grow: an older one that is not here was retired, and the database need not be asked.
        if number > max(self._ring.tokens):
            async with self._database.read() as connection:
                await self._reload(connection)
        return self._ring.tokens.get(number)

    async def _reload(self, connection: AsyncConnection) -> None:
        try:
            await self._ring.reload(connection)
        except Unreadable as error:
            raise StorageUnavailable(
                "the keys were rotated, and this server has the old master key: nobody can sign in here until it has "
                "the new one"
            ) from error
