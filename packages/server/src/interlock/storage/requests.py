"""Requests: rows that leave `pending` once, by one conditional update."""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Executable, Row, bindparam, delete, func, literal_column, or_, select, update

from interlock.domain.figures import SettledAsk
from interlock.domain.form import Form
from interlock.domain.kinds import RequestKind, body_from_json
from interlock.domain.request import REQUEST, Answer, Ending, Request, RequestStatus
from interlock.domain.run import RunCause
from interlock.domain.terms import Routing, Terms
from interlock.ports.filters import AlikeFilter, PendingFilter, SettledFilter
from interlock.storage import _pending_requests, _settled_requests
from interlock.storage._pending_requests import IS_KEPT
from interlock.storage._repository import Repository, batched, one_of
from interlock.storage.answers import SqlAnswers
from interlock.storage.schema import answers, candidates, comments, pauses, requests, runs, votes

# Written out, not bound: only then can the partial index serve the query.
_HAS_DEADLINE = (
    requests.c.status == literal_column(f"'{RequestStatus.PENDING}'"),
    requests.c.deadline.is_not(None),
    IS_KEPT,
)
_HAS_WARNING = (
    requests.c.status == literal_column(f"'{RequestStatus.PENDING}'"),
    requests.c.warn_at.is_not(None),
    IS_KEPT,
)
_NEXT_DEADLINE = select(func.min(requests.c.deadline)).where(*_HAS_DEADLINE)
_NEXT_WARNING = select(func.min(requests.c.warn_at)).where(*_HAS_WARNING)
_WARNED = update(requests).where(requests.c.id == bindparam("request_id"), *_HAS_WARNING).values(warn_at=None)
_BY_ID = select(requests).where(requests.c.id == bindparam("request_id"), IS_KEPT)


_OF_PAUSE = (
    select(requests).where(requests.c.pause_id == bindparam("pause_id")).order_by(requests.c.position, requests.c.id)
)
_OF_PAUSES = select(requests, pauses.c.seq.label("pause_seq")).join(pauses, pauses.c.id == requests.c.pause_id)
_IS_OPEN = (
    requests.c.thread_id == bindparam("thread_id"),
    requests.c.status == literal_column(f"'{RequestStatus.PENDING}'"),
)
_OPEN_OF = (
    select(requests)
    .join(pauses, pauses.c.id == requests.c.pause_id)
    .where(*_IS_OPEN)
    .order_by(pauses.c.seq, pauses.c.id, requests.c.position)
)
# In no order: sorting them all for each part of them would take longer the more there are.
_SOME_OPEN = select(requests).where(*_IS_OPEN).limit(bindparam("limit"))


_LAST_MESSAGE = (
    select(func.max(runs.c.started_seq))
    .where(runs.c.thread_id == bindparam("thread_id"), runs.c.cause == literal_column(f"'{RunCause.MESSAGE}'"))
    .scalar_subquery()
)
_SINCE_MESSAGE = (
    pauses.c.thread_id == bindparam("thread_id"),
    # Of what was asked before this was kept it is not known: it may be of this turn.
    or_(pauses.c.opened_seq.is_(None), pauses.c.opened_seq > _LAST_MESSAGE),
)
_FORMS_SINCE_MESSAGE = (
    select(requests.c.interrupt_id, requests.c.form)
    .join(pauses, pauses.c.id == requests.c.pause_id)
    .where(*_SINCE_MESSAGE, requests.c.interrupt_id.is_not(None))
    .order_by(pauses.c.seq, requests.c.position)
)
_CALLS_SINCE_MESSAGE = (
    select(requests)
    .join(pauses, pauses.c.id == requests.c.pause_id)
    .where(
        *_SINCE_MESSAGE,
        requests.c.call_id.is_not(None),
        requests.c.digest.is_not(None),
        requests.c.status != literal_column(f"'{RequestStatus.PENDING}'"),
    )
    .order_by(pauses.c.seq, requests.c.position)
)


@cache
def _settle(status: RequestStatus) -> Executable:
    allowed = one_of(requests.c.status, REQUEST.sources(status))
    settled = update(requests).where(requests.c.id == bindparam("request_id"), allowed)
    return settled.values(
        status=literal_column(f"'{status}'"),
        settled_at=bindparam("at"),
        ended_by=bindparam("by"),
        ended_source=bindparam("source"),
        ended_reason=bindparam("reason"),
    )


class SqlRequests(Repository):
    async def get(self, request_id: str) -> Request | None:
        row = (await self._connection.execute(_BY_ID, {"request_id": request_id})).one_or_none()
        return None if row is None else request_of(row)

    async def of_pauses(self, pause_ids: Collection[str]) -> list[Request]:
        if len(pause_ids) == 1:
            found = await self._connection.execute(_OF_PAUSE, {"pause_id": next(iter(pause_ids))})
            return [request_of(row) for row in found]
        rows: list[Row[Any]] = []
        for some in batched(pause_ids):
            rows += (await self._connection.execute(_OF_PAUSES.where(requests.c.pause_id.in_(some)))).all()
        rows.sort(key=lambda row: (row.pause_seq, row.pause_id, row.position))
        return [request_of(row) for row in rows]

    async def open_of(self, thread_id: str, limit: int | None = None) -> list[Request]:
        values: dict[str, Any] = {"thread_id": thread_id}
        if limit is None:
            return [request_of(row) for row in await self._connection.execute(_OPEN_OF, values)]
        found = await self._connection.execute(_SOME_OPEN, values | {"limit": limit})
        return sorted((request_of(row) for row in found), key=lambda one: (one.created_at, one.pause_id, one.position))

    async def drop(self, request_ids: Collection[str]) -> None:
        for some in batched(request_ids):
            for table in (answers, candidates, votes, comments):
                await self._connection.execute(delete(table).where(table.c.request_id.in_(some)))
            await self._connection.execute(delete(requests).where(requests.c.id.in_(some)))

    async def forms_since_message(self, thread_id: str) -> dict[str, Form | None]:
        found = await self._connection.execute(_FORMS_SINCE_MESSAGE, {"thread_id": thread_id})
        return {row.interrupt_id: Form.from_json(row.form) for row in found}

    async def calls_since_message(self, thread_id: str) -> list[Request]:
        found = await self._connection.execute(_CALLS_SINCE_MESSAGE, {"thread_id": thread_id})
        return [request_of(row) for row in found]

    async def page_pending(self, query: PendingFilter, limit: int) -> list[Request]:
        return [request_of(row) for row in await _pending_requests.page(self._connection, query, limit)]

    async def count_pending(self, query: PendingFilter, most: int) -> int:
        return await _pending_requests.count(self._connection, query, most)

    async def count_open(
        self, thread_id: str, owner_id: str, most_of_thread: int, most_of_owner: int
    ) -> tuple[int, int]:
        return await _pending_requests.count_open(
            self._connection,
            thread_id=thread_id,
            owner_id=owner_id,
            most_of_thread=most_of_thread,
            most_of_owner=most_of_owner,
        )

    async def pending_by_kind(self, most: int) -> dict[RequestKind, int]:
        return await _pending_requests.by_kind(self._connection, most)

    async def pending_by_owner(self, most: int | None = None) -> dict[str, int]:
        return await _pending_requests.by_owner(self._connection, most)

    async def settle(self, request_id: str, status: RequestStatus, at: datetime, ending: Ending | None = None) -> bool:
        end = {name: getattr(ending, name, None) for name in ("by", "source", "reason")}
        return await self._changed(_settle(status), {"request_id": request_id, "at": at, **end})

    async def extend(self, request_id: str, deadline: datetime, warn_at: datetime) -> bool:
        longer = update(requests).where(requests.c.id == request_id, *_HAS_DEADLINE)
        return await self._changed(longer.values(deadline=deadline, warn_at=warn_at))

    async def page_settled(self, query: SettledFilter, limit: int) -> list[tuple[Request, Answer | None]]:
        rows = await _settled_requests.page(self._connection, query, limit)
        answered = await SqlAnswers(self._connection).of_requests([row.id for row in rows])
        return [(request_of(row), answered.get(row.id)) for row in rows]

    async def settled_alike(self, query: AlikeFilter, limit: int) -> list[str]:
        return await _settled_requests.alike(self._connection, query, limit)

    async def settled_asks(self, since: datetime, person_id: str | None, limit: int) -> list[SettledAsk]:
        return await _settled_requests.asks(self._connection, since, person_id, limit)

    async def overdue(self, now: datetime, limit: int) -> list[Request]:
        found = await self._connection.execute(
            select(requests)
            .where(*_HAS_DEADLINE, requests.c.deadline <= now)
            .order_by(requests.c.deadline, requests.c.id)
            .limit(limit)
        )
        return [request_of(row) for row in found]

    async def next_deadline(self) -> datetime | None:
        return await self._connection.scalar(_NEXT_DEADLINE)

    async def due_warnings(self, now: datetime, limit: int) -> list[Request]:
        found = await self._connection.execute(
            select(requests)
            .where(*_HAS_WARNING, requests.c.warn_at <= now)
            .order_by(requests.c.warn_at, requests.c.id)
            .limit(limit)
        )
        return [request_of(row) for row in found]

    async def take_warning(self, request_id: str) -> bool:
        return await self._changed(_WARNED, {"request_id": request_id})

    async def next_warning(self) -> datetime | None:
        return await self._connection.scalar(_NEXT_WARNING)


def request_values(request: Request) -> dict[str, Any]:
    return {
        "id": request.id,
        "pause_id": request.pause_id,
        "thread_id": request.thread_id,
        "kind": request.kind,
        "status": request.status,
        "position": request.position,
        "body": request.body.to_json(),
        "interrupt_id": request.interrupt_id,
        "form": request.form.to_json() if request.form else {},
        "call_id": request.call_id,
        "message_id": request.message_id,
        "digest": request.digest,
        "definition": request.definition,
        "toolset": request.toolset,
        "timeout_seconds": request.timeout_seconds,
        "deadline": request.deadline,
        "warn_at": request.warn_at,
        "owner_id": request.owner_id,
        "agent": request.agent,
        "risk": request.risk,
        "tool": request.tool,
        "created_at": request.created_at,
        "settled_at": request.settled_at,
        "facts": None if request.owner_groups is None else {"owner_groups": list(request.owner_groups)},
        **_routing_values(request.routing),
    } | {f"ended_{name}": getattr(request.ending, name, None) for name in ("by", "source", "reason")}


def _routing_values(routing: Routing | None) -> dict[str, Any]:
    return {
        "terms": routing.terms.to_json() if routing else None,
        "policy_version": routing.policy_version if routing else None,
        "rule": routing.rule if routing else None,
        "level": routing.level if routing else 0,
        "escalate_at": routing.escalate_at if routing else None,
    }


def _routing(row: Row[Any]) -> Routing | None:
    if row.terms is None:
        return None
    return Routing(
        Terms.from_json(row.terms),
        row.policy_version,
        row.rule,
        row.level,
        row.escalate_at,
        row.claimed_by,
        row.claimed_until,
        row.claimed_at,
    )


def request_of(row: Row[Any]) -> Request:
    form = Form.from_json(row.form)
    return Request(
        id=row.id,
        pause_id=row.pause_id,
        thread_id=row.thread_id,
        status=RequestStatus(row.status),
        position=row.position,
        body=body_from_json(RequestKind(row.kind), row.body),
        created_at=row.created_at,
        interrupt_id=row.interrupt_id,
        form=form,
        checked_by_agent=form is not None,
        call_id=row.call_id,
        message_id=row.message_id,
        digest=row.digest,
        definition=row.definition,
        toolset=row.toolset,
        timeout_seconds=row.timeout_seconds,
        deadline=row.deadline,
        warn_at=row.warn_at,
        owner_id=row.owner_id,
        agent=row.agent,
        settled_at=row.settled_at,
        owner_groups=None if row.facts is None else tuple(row.facts["owner_groups"]),
        routing=_routing(row),
        ending=None if row.ended_by is None else Ending(row.ended_by, row.ended_source, row.ended_reason),
    )
