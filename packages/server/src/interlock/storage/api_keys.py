"""API keys: their hashes, whose they are, and until when they hold."""

from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, insert, select, update

from interlock.domain.api_key import ApiKey, KeyRole
from interlock.storage._repository import Repository
from interlock.storage.access import SqlAccess
from interlock.storage.schema import api_keys

_BY_ID = select(api_keys).where(api_keys.c.id == bindparam("key_id"))
_BY_HASH = select(api_keys).where(api_keys.c.hash == bindparam("key_hash"))
_NEWEST_FIRST = select(api_keys).order_by(api_keys.c.created_at.desc(), api_keys.c.id)


class SqlApiKeys(Repository):
    async def add(self, key: ApiKey) -> None:
        await self._connection.execute(
            insert(api_keys),
            {
                "id": key.id,
                "name": key.name,
                "role": key.role,
                "owner_id": key.owner_id,
                "agent": key.agent,
                "hash": key.hash,
                "created_at": key.created_at,
                "expires_at": key.expires_at,
            },
        )

    async def get(self, key_id: str) -> ApiKey | None:
        row = (await self._connection.execute(_BY_ID, {"key_id": key_id})).one_or_none()
        return None if row is None else _key(row)

    async def by_hash(self, key_hash: str) -> ApiKey | None:
        row = (await self._connection.execute(_BY_HASH, {"key_hash": key_hash})).one_or_none()
        return None if row is None else _key(row)

    async def of_owner(self, owner_id: str | None) -> list[ApiKey]:
        query = _NEWEST_FIRST if owner_id is None else _NEWEST_FIRST.where(api_keys.c.owner_id == owner_id)
        return [_key(row) for row in await self._connection.execute(query)]

    async def record_use(self, key_id: str, at: datetime) -> None:
        await self._connection.execute(update(api_keys).where(api_keys.c.id == key_id).values(last_used_at=at))

    async def revoke(self, key_id: str, at: datetime) -> bool:
        live = update(api_keys).where(api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None))
        owner_id = await self._connection.scalar(live.values(revoked_at=at).returning(api_keys.c.owner_id))
        if owner_id is None:
            return False
        await SqlAccess(self._connection).record_change(owner_id)
        return True

    async def revoke_of(self, owner_id: str, at: datetime) -> list[str]:
        live = update(api_keys).where(api_keys.c.owner_id == owner_id, api_keys.c.revoked_at.is_(None))
        ended = await self._connection.scalars(live.values(revoked_at=at).returning(api_keys.c.id))
        await SqlAccess(self._connection).record_change(owner_id)
        return sorted(ended)


def _key(row: Row[Any]) -> ApiKey:
    return ApiKey(
        id=row.id,
        name=row.name,
        role=KeyRole(row.role),
        owner_id=row.owner_id,
        hash=row.hash,
        created_at=row.created_at,
        agent=row.agent,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        revoked_at=row.revoked_at,
    )
