"""Grants: remembered permissions, kept after they were revoked as well."""

from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, insert, or_, select, update

from interlock.domain.grant import Grant, GrantScope
from interlock.domain.risk import LOWEST
from interlock.storage._repository import Repository
from interlock.storage.schema import grants

_IS_LIVE = grants.c.revoked_at.is_(None)
_LIVE = (
    select(grants)
    .where(grants.c.owner_id == bindparam("owner_id"), grants.c.agent == bindparam("agent"), _IS_LIVE)
    .order_by(grants.c.created_at, grants.c.id)
    # Held until the answer is written, and always in this order: a grant that is revoked meanwhile gives none.
    .with_for_update()
)


class SqlGrants(Repository):
    async def add(self, grant: Grant) -> None:
        await self._connection.execute(
            insert(grants),
            {
                "id": grant.id,
                "owner_id": grant.owner_id,
                "agent": grant.agent,
                "thread_id": grant.thread_id,
                "scope": grant.scope,
                "tool": grant.tool,
                "definition": grant.definition,
                "action": grant.action,
                "allow": grant.allow,
                "by_id": grant.by_id,
                "by_name": grant.by_name,
                "request_id": grant.request_id,
                "ceiling": grant.ceiling,
                "created_at": grant.created_at,
                "uses": grant.uses,
            },
        )

    async def get(self, grant_id: str) -> Grant | None:
        row = (await self._connection.execute(select(grants).where(grants.c.id == grant_id))).one_or_none()
        return None if row is None else _grant(row)

    async def live(self, owner_id: str, agent: str) -> list[Grant]:
        found = await self._connection.execute(_LIVE, {"owner_id": owner_id, "agent": agent})
        return [_grant(row) for row in found]

    async def of_person(self, user_id: str | None) -> list[Grant]:
        query = select(grants).where(_IS_LIVE).order_by(grants.c.created_at.desc(), grants.c.id)
        if user_id is not None:
            query = query.where(or_(grants.c.owner_id == user_id, grants.c.by_id == user_id))
        return [_grant(row) for row in await self._connection.execute(query)]

    async def record_use(self, grant_id: str, at: datetime) -> None:
        use_update = update(grants).where(grants.c.id == grant_id)
        await self._connection.execute(use_update.values(uses=grants.c.uses + 1, last_used_at=at))

    async def revoke(self, grant_id: str, by: str, at: datetime) -> bool:
        live = update(grants).where(grants.c.id == grant_id, _IS_LIVE)
        return await self._changed(live.values(revoked_at=at, revoked_by=by))

    async def revoke_of(self, user_id: str, by: str, at: datetime) -> list[str]:
        theirs = (grants.c.owner_id == user_id) | (grants.c.by_id == user_id)
        live = update(grants).where(theirs, _IS_LIVE).values(revoked_at=at, revoked_by=by)
        return sorted(await self._connection.scalars(live.returning(grants.c.id)))

    async def end_of_thread(self, thread_id: str, at: datetime) -> None:
        live = update(grants).where(grants.c.thread_id == thread_id, _IS_LIVE)
        await self._connection.execute(live.values(revoked_at=at, revoked_by="server"))


def _grant(row: Row[Any]) -> Grant:
    return Grant(
        id=row.id,
        owner_id=row.owner_id,
        agent=row.agent,
        scope=GrantScope(row.scope),
        definition=row.definition,
        allow=row.allow,
        by_id=row.by_id,
        by_name=row.by_name,
        request_id=row.request_id,
        created_at=row.created_at,
        thread_id=row.thread_id,
        tool=row.tool,
        action=row.action,
        # A server of an earlier version wrote none.
        ceiling=row.ceiling or LOWEST,
        revoked_at=row.revoked_at,
        revoked_by=row.revoked_by,
        uses=row.uses,
        last_used_at=row.last_used_at,
    )
