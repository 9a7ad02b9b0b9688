"""Workers: one row each, which it writes again every few seconds."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Interval, delete, func, literal, select

from interlock.domain.worker import Worker
from interlock.storage._repository import Repository, insert_for
from interlock.storage.schema import Moment, workers


class SqlWorkers(Repository):
    async def beat(self, worker: Worker) -> None:
        values: dict[str, Any] = asdict(worker)
        if self._is_postgres:
            values["seen_at"] = func.clock_timestamp()
        add = insert_for(workers, is_postgres=self._is_postgres).values(values)
        changed = {name: values[name] for name in ("seen_at", "capacity", "running", "measured")}
        await self._connection.execute(add.on_conflict_do_update(index_elements=["id"], set_=changed))

    async def leave(self, worker_id: str) -> None:
        await self._connection.execute(delete(workers).where(workers.c.id == worker_id))

    async def all(self) -> list[Worker]:
        found = await self._connection.execute(select(workers).order_by(workers.c.node, workers.c.id))
        return [Worker(**row._mapping) for row in found]  # pyright: ignore[reportPrivateUsage]

    async def seconds_since_heartbeat(self, now: datetime) -> float | None:
        query = select(func.max(workers.c.seen_at), self._clock(now))
        seen, at = (await self._connection.execute(query)).one()
        return None if seen is None else (at - seen).total_seconds()

    async def forget(self, now: datetime, silence: timedelta) -> None:
        await self._connection.execute(delete(workers).where(workers.c.seen_at < self._before(now, silence)))

    def _before(self, now: datetime, silence: timedelta) -> ColumnElement[datetime]:
        return (
            self._clock(now) - literal(silence, Interval()) if self._is_postgres else literal(now - silence, Moment())
        )

    def _clock(self, now: datetime) -> ColumnElement[datetime]:
        """The database's own, where several servers share it: theirs may differ."""
        return func.clock_timestamp(type_=Moment()) if self._is_postgres else literal(now, Moment())
