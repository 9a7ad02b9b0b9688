"""The threads' logs. A thread's row holds the number of its last event, so that taking numbers is one update."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, insert, select, update

from interlock.domain import event_json
from interlock.domain.errors import NotFound
from interlock.domain.event import Event, EventData, EventType
from interlock.storage._repository import Repository, batched
from interlock.storage.schema import events, threads

_LARGEST = 2**63 - 1

_TAKE_NUMBERS = (
    update(threads)
    .where(threads.c.id == bindparam("of_thread"))
    .values(seq=threads.c.seq + bindparam("count"))
    .returning(threads.c.seq)
)
_ADD = insert(events)
_AFTER = (
    select(events)
    .where(events.c.thread_id == bindparam("thread_id"), events.c.seq > bindparam("seq"))
    .order_by(events.c.seq)
    .limit(bindparam("limit"))
)
_HEADS = select(threads.c.id, threads.c.seq).where(threads.c.id.in_(bindparam("thread_ids", expanding=True)))
_LAST = (
    select(events)
    .where(
        events.c.thread_id == bindparam("thread_id"),
        events.c.type == bindparam("kind"),
        events.c.seq <= bindparam("until"),
    )
    .order_by(events.c.seq.desc())
    .limit(1)
)


class SqlEvents(Repository):
    async def append(self, thread_id: str, entries: Sequence[EventData], at: datetime) -> list[Event]:
        if not entries:
            return []
        last = await self._connection.scalar(_TAKE_NUMBERS, {"of_thread": thread_id, "count": len(entries)})
        if last is None:
            raise NotFound(f"there is no thread {thread_id}")
        first = last - len(entries) + 1
        appended = [Event(thread_id, number, data, at) for number, data in enumerate(entries, start=first)]
        await self._connection.execute(
            _ADD,
            [
                {
                    "thread_id": thread_id,
                    "seq": event.seq,
                    "type": event.type,
                    "data": event_json.to_json(event.data),
                    "at": at,
                }
                for event in appended
            ],
        )
        return appended

    async def after(self, thread_id: str, seq: int, limit: int) -> list[Event]:
        # A number that a client made up may be larger than any that a database takes.
        values = {"thread_id": thread_id, "seq": min(seq, _LARGEST), "limit": limit}
        found = await self._connection.execute(_AFTER, values)
        return [_event(row) for row in found]

    async def heads(self, thread_ids: Sequence[str]) -> dict[str, int]:
        heads: dict[str, int] = {}
        for some in batched(thread_ids):
            heads |= {row.id: row.seq for row in await self._connection.execute(_HEADS, {"thread_ids": some})}
        return heads

    async def last(self, thread_id: str, kind: EventType, until: int) -> Event | None:
        values = {"thread_id": thread_id, "kind": kind, "until": min(until, _LARGEST)}
        row = (await self._connection.execute(_LAST, values)).one_or_none()
        return None if row is None else _event(row)


def _event(row: Row[Any]) -> Event:
    return Event(row.thread_id, row.seq, event_json.from_json(EventType(row.type), row.data, row.at), row.at)
