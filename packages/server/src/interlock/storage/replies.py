"""Replies that are given again under an idempotency key. Of the body that came with it only a keyed hash is kept."""

import hashlib
import hmac
from datetime import datetime

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.errors import KeyReused
from interlock.storage._repository import Repository, insert_for
from interlock.storage.schema import replies

_RECALLED = "recalled"
"""In the place of a hash, which no body has."""


class SqlReplies(Repository):
    def __init__(self, connection: AsyncConnection, key: bytes) -> None:
        super().__init__(connection)
        self._key = key

    async def claim(self, principal_id: str, operation: str, key: str, body: bytes, at: datetime) -> bytes | None:
        body_hash = hmac.new(self._key, body, hashlib.sha256).hexdigest()
        if await self._is_new(principal_id, operation, key, body_hash, at):
            return None
        found = select(replies.c.body_hash, replies.c.reply).where(*_key_clauses(principal_id, operation, key))
        row = (await self._connection.execute(found)).first()
        if row is not None and row.body_hash == _RECALLED:
            raise KeyReused("what comes under this idempotency key was recalled; use a new one")
        if row is None or row.body_hash != body_hash or row.reply is None:
            raise KeyReused("this idempotency key came before with another body; use a new one")
        return bytes(row.reply)

    async def keep(self, principal_id: str, operation: str, key: str, reply: bytes) -> None:
        await self._connection.execute(
            update(replies).where(*_key_clauses(principal_id, operation, key)).values(reply=reply)
        )

    async def recall(self, principal_id: str, operation: str, key: str, at: datetime) -> bytes | None:
        if await self._is_new(principal_id, operation, key, _RECALLED, at):
            return None
        found = select(replies.c.reply).where(*_key_clauses(principal_id, operation, key))
        reply = (await self._connection.execute(found)).scalar()
        return None if reply is None else bytes(reply)

    async def forget(self, principal_id: str, operation: str, key: str) -> None:
        await self._connection.execute(delete(replies).where(*_key_clauses(principal_id, operation, key)))

    async def _is_new(self, principal_id: str, operation: str, key: str, body_hash: str, at: datetime) -> bool:
        row_key = {"principal_id": principal_id, "operation": operation, "key": key}
        insert = insert_for(replies, is_postgres=self._is_postgres).on_conflict_do_nothing()
        return bool(await self._changed(insert, {**row_key, "body_hash": body_hash, "created_at": at}))

    async def purge(self, before: datetime) -> None:
        await self._connection.execute(delete(replies).where(replies.c.created_at < before))


def _key_clauses(principal_id: str, operation: str, key: str) -> tuple[ColumnElement[bool], ...]:
    return (replies.c.principal_id == principal_id, replies.c.operation == operation, replies.c.key == key)
