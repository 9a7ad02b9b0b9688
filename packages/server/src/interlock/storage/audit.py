"""The audit trail: each entry's hash covers the one before, under a key that the database does not hold."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import bindparam, insert, literal_column, select
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.canonical import canonical_json, plain
from interlock.domain.principal import Principal
from interlock.storage._repository import Repository
from interlock.storage.schema import audit, storable

_LAST = (
    select(audit.c.number, audit.c.hash)
    .where(audit.c.thread_id == bindparam("thread_id"))
    .order_by(audit.c.number.desc())
    .limit(literal_column("1"))
)
_ADD = insert(audit)


class SqlAudit(Repository):
    def __init__(self, connection: AsyncConnection, key: bytes) -> None:
        super().__init__(connection)
        self._key = key

    async def append(
        self, thread_id: str, actor: Principal, action: str, data: Mapping[str, Any], at: datetime
    ) -> None:
        last = (await self._connection.execute(_LAST, {"thread_id": thread_id})).one_or_none()
        entry = {
            "thread_id": storable(thread_id),
            "number": last.number + 1 if last else 1,
            "at": at,
            "actor_id": storable(actor.id),
            "actor_name": storable(actor.name),
            "action": storable(action),
            "data": plain(dict(data)),
        }
        sealed = chained(self._key, last.hash if last else "", entry)
        await self._connection.execute(_ADD, {**entry, "hash": sealed})


def chained(key: bytes, previous: str, entry: Mapping[str, Any]) -> str:
    """The hash of an entry, given as its row without the hash, after an entry with the hash `previous`."""
    at: datetime = entry["at"]
    spelled = canonical_json({**entry, "at": at.astimezone(UTC).isoformat()})
    return hmac.new(key, (previous + spelled).encode(), hashlib.sha256).hexdigest()
