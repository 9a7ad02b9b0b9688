"""The list of what is pending: each branch of it is read in the order of an index, and never further than asked."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Integer,
    Row,
    ScalarSelect,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    exists,
    func,
    literal_column,
    or_,
    select,
    true,
    union,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.kinds import RequestKind
from interlock.domain.principal import OF_OWNER
from interlock.domain.request import RequestStatus
from interlock.domain.terms import EVERYBODY
from interlock.ports.filters import PendingFilter
from interlock.storage.schema import candidates, removals, requests, threads

Conditions = list[ColumnElement[bool]]

# Written out, not bound: only then can the partial indexes serve the query.
_IS_PENDING = requests.c.status == literal_column(f"'{RequestStatus.PENDING}'")
IS_KEPT = ~exists().where(removals.c.thread_id == requests.c.thread_id)
"""Of a thread that is being deleted nothing is there any more for anybody; the table of those is all but empty."""

_EVERYBODY = candidates.alias()
_IS_FOR_WHO_ANSWERS = or_(
    requests.c.terms.is_(None),
    exists().where(_EVERYBODY.c.request_id == requests.c.id, _EVERYBODY.c.who == EVERYBODY),
)
"""Put to nobody by name."""

_CLOSING_LOOKED_AT = 10_000


async def page(connection: AsyncConnection, query: PendingFilter, limit: int) -> list[Row[Any]]:
    found: dict[str, Row[Any]] = {}
    for branch in _branches(query):
        statement = (
            select(requests)
            .where(_IS_PENDING, IS_KEPT, *branch, *_conditions(query, branch), *_after(query))
            .order_by(requests.c.created_at, requests.c.id)
            .limit(limit)
        )
        found |= {row.id: row for row in await connection.execute(statement)}
    for who in query.candidacies:
        found |= {row.id: row for row in await connection.execute(candidate_page(query, who, limit))}
    # The same may be in several: to leave it out of all but one there would be to pass over very many.
    return sorted(found.values(), key=lambda row: (row.created_at, row.id))[:limit]


async def count(connection: AsyncConnection, query: PendingFilter, most: int) -> int:
    own = [
        select(requests.c.id).where(_IS_PENDING, IS_KEPT, *one, *_conditions(query, one)) for one in _branches(query)
    ]
    total = 0
    for branch in own:
        total += await _size(connection, branch.limit(most - total))
        if total >= most:
            return total
    put = [_put_to(requests.c.id, query, who) for who in query.candidacies]
    if not put:
        return total
    # What is in several of them counts once.
    parts = (select(branch.limit(most).subquery().c.id) for branch in (*own, *put))
    return min(most, await _size(connection, union(*parts)))


def _count_up_to(most: str, *which: ColumnElement[bool]) -> ScalarSelect[int]:
    found = select(requests.c.id).where(_IS_PENDING, IS_KEPT, *which).limit(bindparam(most, type_=Integer))
    return select(func.count()).select_from(found.subquery()).scalar_subquery()


_OPEN_COUNTS = select(
    _count_up_to("most_of_thread", requests.c.thread_id == bindparam("thread_id")).label("of_thread"),
    _count_up_to("most_of_owner", requests.c.owner_id == bindparam("owner_id")).label("of_owner"),
)


async def count_open(connection: AsyncConnection, **given: str | int) -> tuple[int, int]:
    """Of one thread and of one owner, in one statement: each ask counts both."""
    row = (await connection.execute(_OPEN_COUNTS, given)).one()
    return row.of_thread, row.of_owner


async def _size(connection: AsyncConnection, found: Select[Any] | CompoundSelect[Any]) -> int:
    return await connection.scalar(select(func.count()).select_from(found.subquery())) or 0


def candidate_page(query: PendingFilter, who: str, limit: int) -> Select[Any]:
    """Of what is put to one of the candidates, the oldest: read in the order of its index, however much there is."""
    statement = _put_to(requests, query, who)
    if query.after is not None:
        at, request_id = query.after
        same_moment = and_(candidates.c.asked_at == at, candidates.c.request_id > request_id)
        statement = statement.where(candidates.c.asked_at >= at, or_(candidates.c.asked_at > at, same_moment))
    return statement.order_by(candidates.c.asked_at, candidates.c.request_id).limit(limit)


def _put_to(wanted: Any, query: PendingFilter, who: str) -> Select[Any]:
    put = select(wanted).select_from(candidates.join(requests, requests.c.id == candidates.c.request_id))
    put = put.where(literal_column("candidates.is_open"), candidates.c.who == who, _IS_PENDING, IS_KEPT)
    return put.where(*_conditions(query, [true()]))


async def by_kind(connection: AsyncConnection, most: int) -> dict[RequestKind, int]:
    some = select(requests.c.kind).where(_IS_PENDING, IS_KEPT).limit(most).subquery()
    found = await connection.execute(select(some.c.kind, func.count()).group_by(some.c.kind))
    return dict.fromkeys(RequestKind, 0) | {RequestKind(kind): number for kind, number in found}


async def by_owner(connection: AsyncConnection, most: int | None) -> dict[str, int]:
    count = func.count().label("held")
    query = select(requests.c.owner_id, count).where(_IS_PENDING, IS_KEPT).group_by(requests.c.owner_id)
    found = await connection.execute(query.order_by(count.desc(), requests.c.owner_id).limit(most))
    return {row.owner_id: row.held for row in found}


def _branches(query: PendingFilter) -> Iterator[Conditions]:
    """What one may see, in parts that do not overlap: one's own, and those of the agents that one reviews."""
    if query.only_candidacies:
        return
    own = [] if query.owner_id is None else [requests.c.owner_id == query.owner_id]
    more = [] if query.is_for_anybody else [_IS_FOR_WHO_ANSWERS]
    yield [*own, *more]
    for review in dict.fromkeys(query.reviews):
        yield [*is_reviewed(review), requests.c.owner_id != query.owner_id, *more]


def is_reviewed(review: str) -> Conditions:
    """As `domain.principal.review_key` says it."""
    owner_id, of_owner, agent = review.rpartition(OF_OWNER)
    asker = exists().where(threads.c.id == requests.c.thread_id, threads.c.asker_id.is_not(None))
    if of_owner:
        return [requests.c.owner_id == owner_id, requests.c.agent == agent, asker]
    return [requests.c.agent == agent, ~asker]


def _is_claimed(query: PendingFilter) -> Conditions:
    """By the index of claims: looking for them among everything that waits would grow with it."""
    if query.claimed_by is None:
        return []
    held = _IS_PENDING, requests.c.claimed_by == query.claimed_by, requests.c.claimed_until > query.claimed_at
    return [requests.c.id.in_(select(requests.c.id).where(*held))]


def _conditions(query: PendingFilter, branch: Conditions) -> Conditions:
    conditions = _is_claimed(query)
    kind, risk = _kind_and_risk(is_narrow=bool(branch) or query.agent is not None)
    if query.asker_id is not None:
        of_asker = select(threads.c.id).where(threads.c.asker_id == query.asker_id)
        conditions.append(requests.c.thread_id.in_(of_asker))
    if query.thread_id is not None:
        conditions.append(requests.c.thread_id == query.thread_id)
    if query.kinds is not None:
        conditions.append(kind.in_(query.kinds))
    if query.agent is not None:
        conditions.append(requests.c.agent == query.agent)
    if query.risk is not None:
        conditions.append(risk == query.risk)
    if query.created_after is not None:
        conditions.append(requests.c.created_at >= query.created_after)
    if query.created_before is not None:
        conditions.append(requests.c.created_at <= query.created_before)
    if query.closing_before is not None:
        conditions.append(requests.c.id.in_(_select_closing(query.closing_before)))
    if query.text is not None:
        conditions.append(cast(requests.c.body, Text).contains(_as_stored(query.text), autoescape=True))
    return conditions


def _select_closing(at: datetime) -> Select[str]:
    """In the order of the index of deadlines: looking for them among everything that waits would grow with it."""
    soon = _IS_PENDING, requests.c.deadline.is_not(None), requests.c.deadline <= at
    return select(requests.c.id).where(*soon).order_by(requests.c.deadline).limit(_CLOSING_LOOKED_AT)


def _kind_and_risk(*, is_narrow: bool) -> tuple[ColumnElement[str], ColumnElement[str]]:
    """The two columns; where an owner or an agent narrows more, so that their own indexes do not serve the query.

    Without statistics SQLite takes any index that fits, and of one kind there may be a million for each of an owner's.
    """
    if is_narrow:
        return func.coalesce(requests.c.kind, ""), func.coalesce(requests.c.risk, "")
    return requests.c.kind, requests.c.risk


def _as_stored(text: str) -> str:
    """As it stands inside the JSON of a body, which is plain ASCII."""
    return json.dumps(text, ensure_ascii=True)[1:-1]


def _after(query: PendingFilter) -> Conditions:
    if query.after is None:
        return []
    at, request_id = query.after
    same_moment = and_(requests.c.created_at == at, requests.c.id > request_id)
    return [or_(requests.c.created_at > at, same_moment)]
