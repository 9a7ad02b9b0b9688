"""Drills, in a table that holds nothing else."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, delete, insert, or_, select, update

from interlock.domain.drill import Drill, Harm
from interlock.storage._repository import Repository
from interlock.storage.schema import drills


class SqlDrills(Repository):
    async def add(self, planted: Sequence[Drill]) -> None:
        await self._connection.execute(insert(drills), [asdict(one) for one in planted])

    async def get(self, drill_id: str) -> Drill | None:
        row = (await self._connection.execute(select(drills).where(drills.c.id == drill_id))).first()
        return None if row is None else _drill(row)

    async def open_of(self, person_id: str, since: datetime, until: datetime) -> list[Drill]:
        when = drills.c.created_at >= since, drills.c.created_at <= until
        statement = select(drills).where(drills.c.person_id == person_id, drills.c.settled_at.is_(None), *when)
        found = await self._connection.execute(statement.order_by(drills.c.created_at, drills.c.id))
        return [_drill(row) for row in found]

    async def moved(self, person_id: str, after: datetime, until: datetime) -> list[Drill]:
        came = and_(drills.c.created_at > after, drills.c.created_at <= until)
        ended = and_(drills.c.settled_at > after, drills.c.settled_at <= until)
        found = await self._connection.execute(
            select(drills).where(drills.c.person_id == person_id, or_(came, ended)).order_by(drills.c.created_at)
        )
        return [_drill(row) for row in found]

    async def settle(self, drill_id: str, decision: str, at: datetime) -> bool:
        mine = update(drills).where(drills.c.id == drill_id, drills.c.settled_at.is_(None))
        return await self._changed(mine.values(decision=decision, settled_at=at))

    async def settled_since(self, since: datetime, person_id: str | None) -> list[Drill]:
        statement = select(drills).where(drills.c.settled_at >= since)
        if person_id is not None:
            statement = statement.where(drills.c.person_id == person_id)
        return [_drill(row) for row in await self._connection.execute(statement)]

    async def purge(self, unanswered: datetime, answered: datetime) -> None:
        left = and_(drills.c.settled_at.is_(None), drills.c.created_at < unanswered)
        await self._connection.execute(delete(drills).where(or_(left, drills.c.settled_at < answered)))

    async def drop_of(self, person_id: str) -> None:
        await self._connection.execute(delete(drills).where(drills.c.person_id == person_id))


def _drill(row: Row[Any]) -> Drill:
    return Drill(
        id=row.id,
        person_id=row.person_id,
        conversation_id=row.conversation_id,
        agent=row.agent,
        tool=row.tool,
        args=row.args,
        risk=row.risk,
        outside=row.outside,
        harm=Harm(row.harm),
        created_at=row.created_at,
        settled_at=row.settled_at,
        decision=row.decision,
    )
