"""Replies that are given again under an idempotency key. Of the body that came with it only a keyed hash is kept."""

import hashlib
import hmac
from datetime import datetime

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.errors import KeyReused
from interlock.storage._repository import Repository, insert_for
from interlock.storage.schema import replies


class SqlReplies(Repository):
    def __init__(self, connection: AsyncConnection, key: bytes) -> None:
        super().__init__(connection)
        self._key = key

    async def claim(self, principal_id: str, operation: str, key: str, body: bytes, at: datetime) -> bytes | None:
        body_hash = hmac.new(self._key, body, hashlib.sha256).hexdigest()
        claimed = await self._changed(
            insert_for(replies, is_postgres=self._is_postgres).on_conflict_do_nothing(),
            {
                "principal_id": principal_id,
                "operation": operation,
                "key": key,
                "body_hash": body_hash,
                "created_at": at,
            },
        )
        if claimed:
            return None
        found = select(replies.c.body_hash, replies.c.reply).where(*_named(principal_id, operation, key))
        row = (await self._connection.execute(found)).first()
        if row is None or row.body_hash != body_hash or row.reply is None:
            raise KeyReused("this idempotency key came before with another body; use a new one", key=key)
        return bytes(row.reply)

    async def keep(self, principal_id: str, operation: str, key: str, reply: bytes) -> None:
        await self._connection.execute(update(replies).where(*_named(principal_id, operation, key)).values(reply=reply))

    async def purge(self, before: datetime) -> None:
        await self._connection.execute(delete(replies).where(replies.c.created_at < before))


def _named(principal_id: str, operation: str, key: str) -> tuple[ColumnElement[bool], ...]:
    return (replies.c.principal_id == principal_id, replies.c.operation == operation, replies.c.key == key)
