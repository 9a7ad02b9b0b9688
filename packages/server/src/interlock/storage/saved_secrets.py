"""Values that people let be kept. They are sealed here; the database never sees them in clear."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Row, delete, select

from interlock.domain.errors import NotFound
from interlock.domain.saved_secret import SavedSecret
from interlock.storage._repository import SealedRepository, batched, insert_for
from interlock.storage.schema import saved_secrets

_PUBLIC = tuple(column for column in saved_secrets.c if column.name != "sealed")
_OF_ASKER = "="
"""Between an agent's name and who asks under it. It is in no name of an agent, hosted or not."""


class SqlSavedSecrets(SealedRepository):
    async def put(self, secret: SavedSecret, value: str) -> None:
        agent = _agent_column(secret.agent, secret.asker_id)
        removal = delete(saved_secrets).where(
            saved_secrets.c.owner_id == secret.owner_id,
            saved_secrets.c.agent == agent,
            saved_secrets.c.name == secret.name,
        )
        await self._connection.execute(removal)
        # Of two answers that save the same name at once the later one counts.
        insert = insert_for(saved_secrets, is_postgres=self._is_postgres)
        changed = {name: insert.excluded[name] for name in ("id", "sensitive", "sealed", "request_id", "by_name")}
        await self._connection.execute(
            insert.on_conflict_do_update(index_elements=["owner_id", "agent", "name"], set_=changed),
            {
                "id": secret.id,
                "owner_id": secret.owner_id,
                "agent": agent,
                "name": secret.name,
                "sensitive": secret.sensitive,
                "sealed": await self._seal(value, context=_context(secret.id)),
                "request_id": secret.request_id,
                "by_name": secret.by_name,
                "created_at": secret.created_at,
                "updated_at": secret.updated_at,
            },
        )

    async def by_names(
        self, owner_id: str, agent: str, asker_id: str | None, names: Collection[str]
    ) -> dict[str, SavedSecret]:
        kept_for = _agent_column(agent, asker_id)
        own = select(*_PUBLIC).where(saved_secrets.c.owner_id == owner_id, saved_secrets.c.agent == kept_for)
        saved: dict[str, SavedSecret] = {}
        for some in batched(names):
            found = await self._connection.execute(own.where(saved_secrets.c.name.in_(some)))
            saved |= {row.name: _from_row(row) for row in found}
        return saved

    async def value(self, secret_id: str) -> str:
        query = select(saved_secrets.c.sealed).where(saved_secrets.c.id == secret_id)
        sealed = await self._connection.scalar(query)
        if sealed is None:
            raise NotFound("there is no such saved value")
        return await self._open(sealed, context=_context(secret_id))

    async def get(self, secret_id: str) -> SavedSecret | None:
        found = await self._connection.execute(select(*_PUBLIC).where(saved_secrets.c.id == secret_id))
        row = found.one_or_none()
        return None if row is None else _from_row(row)

    async def of_owner(self, owner_id: str | None) -> list[SavedSecret]:
        query = select(*_PUBLIC).order_by(saved_secrets.c.agent, saved_secrets.c.name, saved_secrets.c.id)
        if owner_id is not None:
            query = query.where(saved_secrets.c.owner_id == owner_id)
        return [_from_row(row) for row in await self._connection.execute(query)]

    async def delete(self, secret_id: str) -> bool:
        return await self._changed(delete(saved_secrets).where(saved_secrets.c.id == secret_id))

    async def delete_of(self, owner_id: str) -> int:
        result = await self._connection.execute(delete(saved_secrets).where(saved_secrets.c.owner_id == owner_id))
        return result.rowcount


def _agent_column(agent: str, asker_id: str | None) -> str:
    """In the agent's column: a server of an older version, which looks by the name alone, does not find it."""
    return agent if asker_id is None else f"{agent}{_OF_ASKER}{asker_id}"


def _context(secret_id: str) -> str:
    return f"saved:{secret_id}"


def _from_row(row: Row[Any]) -> SavedSecret:
    agent, _, asker_id = row.agent.partition(_OF_ASKER)
    return SavedSecret(
        id=row.id,
        owner_id=row.owner_id,
        agent=agent,
        name=row.name,
        sensitive=row.sensitive,
        request_id=row.request_id,
        by_name=row.by_name,
        created_at=row.created_at,
        updated_at=row.updated_at,
        asker_id=asker_id or None,
    )
