"""Workers: one row each, which it writes again every few seconds."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select

from interlock.domain.worker import Worker
from interlock.storage._repository import Repository, insert_for
from interlock.storage.schema import workers


class SqlWorkers(Repository):
    async def beat(self, worker: Worker) -> None:
        values: dict[str, Any] = asdict(worker)
        add = insert_for(workers, is_postgres=self._is_postgres).values(values)
        changed = {name: values[name] for name in ("seen_at", "capacity", "running", "measured")}
        await self._connection.execute(add.on_conflict_do_update(index_elements=["id"], set_=changed))

    async def leave(self, worker_id: str) -> None:
        await self._connection.execute(delete(workers).where(workers.c.id == worker_id))

    async def all(self) -> list[Worker]:
        found = await self._connection.execute(select(workers).order_by(workers.c.node, workers.c.id))
        return [Worker(**row._mapping) for row in found]  # pyright: ignore[reportPrivateUsage]

    async def last_seen(self) -> datetime | None:
        return await self._connection.scalar(select(func.max(workers.c.seen_at)))

    async def forget(self, before: datetime) -> None:
        await self._connection.execute(delete(workers).where(workers.c.seen_at < before))
