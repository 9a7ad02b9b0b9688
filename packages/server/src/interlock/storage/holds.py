"""Holds: one row for each ask whose id nobody was told yet."""

from datetime import datetime

from sqlalchemy import ColumnElement, Row, delete, insert, select, update

from interlock.domain.hold import Hold
from interlock.storage._repository import Repository
from interlock.storage.schema import holds


class SqlHolds(Repository):
    async def add(self, hold: Hold) -> None:
        await self._connection.execute(
            insert(holds),
            {
                "request_id": hold.request_id,
                "asker_id": hold.asker_id,
                "digest": hold.digest,
                "holder": hold.holder,
                "held_until": hold.until,
                "call": hold.call,
            },
        )

    async def orphans(self, asker_id: str, digest: str, now: datetime) -> list[Hold]:
        same = (holds.c.asker_id == asker_id, holds.c.digest == digest)
        found = select(holds).where(*same, holds.c.held_until <= now).order_by(holds.c.held_until)
        return [_hold(row) for row in await self._connection.execute(found)]

    async def take_over(self, orphan: Hold, holder: str, until: datetime, call: str | None) -> bool:
        # The time as well: who released it may have taken it again since it was found.
        seen = (*_of(orphan.request_id, orphan.holder), holds.c.held_until == orphan.until)
        return await self._changed(update(holds).where(*seen).values(holder=holder, held_until=until, call=call))

    async def replace(self, request_id: str, holder: str, until: datetime) -> bool:
        taken = update(holds).where(holds.c.request_id == request_id).values(holder=holder, held_until=until)
        return await self._changed(taken)

    async def renew(self, request_id: str, holder: str, until: datetime) -> bool:
        return await self._changed(update(holds).where(*_of(request_id, holder)).values(held_until=until))

    async def end(self, request_id: str, holder: str) -> bool:
        return await self._changed(delete(holds).where(*_of(request_id, holder)))

    async def release_all(self, now: datetime) -> None:
        await self._connection.execute(update(holds).where(holds.c.held_until > now).values(held_until=now))

    async def abandoned(self, before: datetime, limit: int) -> list[Hold]:
        found = select(holds).where(holds.c.held_until < before).order_by(holds.c.held_until).limit(limit)
        return [_hold(row) for row in await self._connection.execute(found)]


def _of(request_id: str, holder: str) -> tuple[ColumnElement[bool], ...]:
    return (holds.c.request_id == request_id, holds.c.holder == holder)


def _hold(row: Row[tuple[object, ...]]) -> Hold:
    return Hold(row.request_id, row.asker_id, row.digest, row.holder, row.held_until, row.call)
