"""What repositories with sealed values are built on. They go on after a rotation that another process made."""

from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.storage._repository import Repository
from interlock.storage.sealing import Sealer, UnknownKey


class SealedRepository(Repository):
    def __init__(self, connection: AsyncConnection, sealer: Sealer) -> None:
        super().__init__(connection)
        self._sealer = sealer

    async def _seal(self, text: str, *, context: str) -> bytes:
        await self._sealer.ready(self._connection)
        return self._sealer.seal(text, context=context)

    async def _open(self, blob: bytes, *, context: str) -> str:
        try:
            return self._sealer.open(blob, context=context)
        except UnknownKey:
            await self._sealer.reload(self._connection)
            return self._sealer.open(blob, context=context)
