"""Calls of the gateway whose end is not known, and the pins of tools."""

from datetime import datetime

from sqlalchemy import Row, delete, func, insert, select, update

from interlock.domain.gateway import ToolPin, UpstreamCall
from interlock.domain.request import RequestStatus
from interlock.storage._repository import Repository, insert_for
from interlock.storage.schema import requests, tool_pins, upstream_calls


class SqlUpstreamCalls(Repository):
    async def add(self, call: UpstreamCall) -> None:
        await self._connection.execute(
            insert(upstream_calls),
            {
                "id": call.id,
                "asker_id": call.asker_id,
                "thread_id": call.thread_id,
                "upstream": call.upstream,
                "digest": call.digest,
                "holder": call.holder,
                "held_until": call.until,
                "doubt_id": call.doubt_id,
            },
        )

    async def get(self, call_id: str) -> UpstreamCall | None:
        found = select(upstream_calls).where(upstream_calls.c.id == call_id)
        row = (await self._connection.execute(found)).one_or_none()
        return None if row is None else _call(row)

    async def same(self, asker_id: str, digest: str) -> list[UpstreamCall]:
        alike = (upstream_calls.c.asker_id == asker_id, upstream_calls.c.digest == digest)
        found = select(upstream_calls).where(*alike).order_by(upstream_calls.c.held_until, upstream_calls.c.id)
        return [_call(row) for row in await self._connection.execute(found)]

    async def take(self, call: UpstreamCall, holder: str, until: datetime) -> bool:
        seen = (
            upstream_calls.c.id == call.id,
            upstream_calls.c.holder == call.holder,
            upstream_calls.c.held_until == call.until,
        )
        return await self._changed(update(upstream_calls).where(*seen).values(holder=holder, held_until=until))

    async def renew(self, call_id: str, holder: str, until: datetime) -> bool:
        mine = (upstream_calls.c.id == call_id, upstream_calls.c.holder == holder)
        return await self._changed(update(upstream_calls).where(*mine).values(held_until=until))

    async def doubt(self, call_id: str, request_id: str | None) -> None:
        doubted = update(upstream_calls).where(upstream_calls.c.id == call_id)
        await self._connection.execute(doubted.values(doubt_id=request_id))

    async def end(self, call_id: str) -> None:
        await self._connection.execute(delete(upstream_calls).where(upstream_calls.c.id == call_id))

    async def list_expired(self, before: datetime, limit: int) -> list[UpstreamCall]:
        calls_with_doubts = upstream_calls.outerjoin(requests, requests.c.id == upstream_calls.c.doubt_id)
        is_open = requests.c.status == RequestStatus.PENDING
        lapsed = select(upstream_calls).select_from(calls_with_doubts).where(upstream_calls.c.held_until <= before)
        found = lapsed.where(is_open.is_not(True)).order_by(upstream_calls.c.held_until).limit(limit)
        return [_call(row) for row in await self._connection.execute(found)]

    async def next_left(self) -> datetime | None:
        unasked = select(func.min(upstream_calls.c.held_until)).where(upstream_calls.c.doubt_id.is_(None))
        return await self._connection.scalar(unasked)

    async def leave_all(self, holders: str, at: datetime) -> None:
        theirs = upstream_calls.c.holder.startswith(holders, autoescape=True)
        await self._connection.execute(update(upstream_calls).where(theirs).values(held_until=at))

    async def pin(self, owner_id: str, upstream: str, tool: str) -> str | None:
        is_tool = (tool_pins.c.owner_id == owner_id, tool_pins.c.upstream == upstream, tool_pins.c.tool == tool)
        return await self._connection.scalar(select(tool_pins.c.digest).where(*is_tool))

    async def set_pin(self, pin: ToolPin) -> None:
        insert = insert_for(tool_pins, is_postgres=self._is_postgres)
        await self._connection.execute(
            insert.on_conflict_do_update(
                index_elements=["owner_id", "upstream", "tool"], set_={"digest": insert.excluded.digest}
            ),
            {"owner_id": pin.owner_id, "upstream": pin.upstream, "tool": pin.tool, "digest": pin.digest},
        )


def _call(row: Row[tuple[object, ...]]) -> UpstreamCall:
    return UpstreamCall(
        row.id, row.asker_id, row.thread_id, row.upstream, row.digest, row.holder, row.held_until, row.doubt_id
    )
