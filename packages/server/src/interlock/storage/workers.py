"""Workers and servers, by their signs of life, and what servers ask each other: see `ports.workers`."""

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Interval, delete, exists, func, literal, select, text

from interlock.domain.worker import Worker
from interlock.storage._repository import Repository, batched, insert_for
from interlock.storage.schema import Moment, marks, unfollowed, workers

_SERVER = "server:"
_DISMISSED = "dismissed:"
# When the transaction began: what was committed before then is seen in it.
_NOW = text("SELECT (extract(epoch FROM now()) * 1000)::bigint")


class _Moments(Repository):
    async def _moment(self, now: datetime) -> int:
        if self._is_postgres:
            return (await self._connection.execute(_NOW)).scalar_one()
        return int(now.timestamp() * 1000)


class SqlWorkers(_Moments):
    """One row each, which the worker writes again every few seconds."""

    async def beat(self, worker: Worker) -> None:
        values: dict[str, Any] = asdict(worker)
        if self._is_postgres:
            values["seen_at"] = func.clock_timestamp()
        add = insert_for(workers, is_postgres=self._is_postgres).values(values)
        changed = {name: values[name] for name in ("seen_at", "capacity", "running", "measured")}
        await self._connection.execute(add.on_conflict_do_update(index_elements=["id"], set_=changed))

    async def leave(self, worker_id: str) -> None:
        await self._connection.execute(delete(workers).where(workers.c.id == worker_id))

    async def dismiss(self, worker_id: str, at: datetime) -> None:
        values = {"name": _DISMISSED + worker_id, "value": await self._moment(at)}
        add = insert_for(marks, is_postgres=self._is_postgres).values(values)
        await self._connection.execute(add.on_conflict_do_nothing())

    async def is_dismissed(self, worker_id: str) -> bool:
        found = select(exists().where(marks.c.name == _DISMISSED + worker_id))
        return bool(await self._connection.scalar(found))

    async def all(self) -> list[Worker]:
        found = await self._connection.execute(select(workers).order_by(workers.c.node, workers.c.id))
        return [Worker(**row._mapping) for row in found]  # pyright: ignore[reportPrivateUsage]

    async def seconds_since_heartbeat(self, now: datetime) -> float | None:
        query = select(func.max(workers.c.seen_at), self._clock(now))
        seen, at = (await self._connection.execute(query)).one()
        return None if seen is None else (at - seen).total_seconds()

    async def forget(self, now: datetime, silence: timedelta) -> None:
        await self._connection.execute(delete(workers).where(workers.c.seen_at < self._before(now, silence)))
        is_old = marks.c.value < await self._moment(now) - int(silence.total_seconds() * 1000)
        await self._connection.execute(
            delete(marks).where(marks.c.name.startswith(_DISMISSED, autoescape=True), is_old)
        )

    def _before(self, now: datetime, silence: timedelta) -> ColumnElement[datetime]:
        return (
            self._clock(now) - literal(silence, Interval()) if self._is_postgres else literal(now - silence, Moment())
        )

    def _clock(self, now: datetime) -> ColumnElement[datetime]:
        """The database's own, where several servers share it: theirs may differ."""
        return func.clock_timestamp(type_=Moment()) if self._is_postgres else literal(now, Moment())


class SqlServers(_Moments):
    """One mark each: the moment at which the server last began to look what the others ask."""

    async def moment(self, now: datetime) -> int:
        return await self._moment(now)

    async def sign(self, server: str, moment: int, forgotten: int) -> None:
        add = insert_for(marks, is_postgres=self._is_postgres).values(name=_SERVER + server, value=moment)
        await self._connection.execute(add.on_conflict_do_update(index_elements=["name"], set_={"value": moment}))
        is_old = marks.c.value < moment - forgotten
        await self._connection.execute(delete(marks).where(marks.c.name.startswith(_SERVER, autoescape=True), is_old))

    async def leave(self, server: str) -> None:
        await self._connection.execute(delete(marks).where(marks.c.name == _SERVER + server))

    async def any_between(self, first: int, last: int, besides: str) -> bool:
        others = marks.c.name.startswith(_SERVER, autoescape=True), marks.c.name != _SERVER + besides
        found = select(exists().where(*others, marks.c.value.between(first, last)))
        return bool(await self._connection.scalar(found))


class SqlFollowerQuestions(Repository):
    """Questions of servers whether a thread is followed at another."""

    async def ask(self, thread_id: str, mark: str, at: datetime) -> None:
        values = {"thread_id": thread_id, "mark": mark, "at": at}
        add = insert_for(unfollowed, is_postgres=self._is_postgres).values(values)
        await self._connection.execute(
            add.on_conflict_do_update(index_elements=["thread_id"], set_={"mark": mark, "at": at})
        )

    async def open_questions(self) -> list[str]:
        return list(await self._connection.scalars(select(unfollowed.c.thread_id)))

    async def answer_followed(self, thread_ids: Collection[str]) -> None:
        for some in batched(thread_ids):
            await self._connection.execute(delete(unfollowed).where(unfollowed.c.thread_id.in_(some)))

    async def is_open(self, thread_id: str, mark: str) -> bool:
        mine = exists().where(unfollowed.c.thread_id == thread_id, unfollowed.c.mark == mark)
        return bool(await self._connection.scalar(select(mine)))

    async def take_back(self, thread_id: str, mark: str) -> bool:
        mine = unfollowed.c.thread_id == thread_id, unfollowed.c.mark == mark
        return await self._changed(delete(unfollowed).where(*mine))

    async def forget(self, before: datetime) -> None:
        await self._connection.execute(delete(unfollowed).where(unfollowed.c.at < before))
