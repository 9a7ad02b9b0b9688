"""Threads found by what is known of them, and by what their metadata contain.

A database's own type for JSON does not take every text that Interlock keeps. Here a text search leaves out most of what
does not fit, and the rest is looked at in Python, a page at a time.
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Text, and_, false, func, literal_column, or_, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.json_value import JsonValue
from interlock.domain.principal import OF_OWNER
from interlock.domain.run import RunStatus
from interlock.domain.thread import ThreadStatus
from interlock.domain.thread_metadata import contains
from interlock.ports.filters import ThreadFilter, ThreadOrder, ThreadSort
from interlock.storage.schema import BUSY, runs, threads

PAGE = 500
MOST_TEXTS = 50
"""How many fields the database looks for: SQLite takes no condition of more than a thousand parts."""

_IS_BUSY: ColumnElement[bool] = literal_column(BUSY)
"""As it stands with the index: else a database does not use that."""
_LAST_STATUS = (
    select(runs.c.status)
    .where(runs.c.thread_id == threads.c.id)
    .order_by(runs.c.number.desc())
    .limit(literal_column("1"))
    .scalar_subquery()
)


async def search(
    connection: AsyncConnection,
    query: ThreadFilter,
    order: ThreadOrder,
    columns: tuple[Any, ...],
    offset: int,
    limit: int,
) -> Sequence[Row[Any]]:
    statement = select(*columns).where(*_conditions(query))
    if not query.metadata:
        ordered = statement.order_by(*_order_columns(order)).offset(offset).limit(limit)
        rows: Any = await connection.execute(ordered)
        return rows.all()
    found: list[Row[Any]] = []
    async for page in _pages(connection, query, order, statement):
        found += page
        if len(found) >= offset + limit:
            break
    return found[offset : offset + limit]


async def count(connection: AsyncConnection, query: ThreadFilter) -> int:
    if not query.metadata:
        count_query = select(func.count()).select_from(threads).where(*_conditions(query))
        return await connection.scalar(count_query) or 0
    statement = select(threads.c.id, threads.c.metadata).where(*_conditions(query))
    pages = _pages(connection, query, ThreadOrder(ThreadSort.ID), statement)
    return sum([len(page) async for page in pages])


async def _pages(
    connection: AsyncConnection, query: ThreadFilter, order: ThreadOrder, wanted: Any
) -> AsyncGenerator[list[Row[Any]]]:
    """What has the metadata."""
    last: Row[Any] | None = None
    while True:
        page = (await connection.execute(_after(wanted, order, last).limit(PAGE))).all()
        yield [row for row in page if contains(row.metadata, query.metadata)]
        if len(page) < PAGE:
            return
        last = page[-1]


def _order_columns(order: ThreadOrder) -> list[ColumnElement[Any]]:
    columns = [threads.c[order.by.value], *([threads.c.id] if order.by is not ThreadSort.ID else [])]
    return [column.asc() if order.is_rising else column.desc() for column in columns]


def _after(query: Any, order: ThreadOrder, last: Row[Any] | None) -> Any:
    ordered = query.order_by(*_order_columns(order))
    if last is None:
        return ordered
    column, value = threads.c[order.by.value], getattr(last, order.by.value)
    is_later, is_next = (
        (column > value, threads.c.id > last.id) if order.is_rising else (column < value, threads.c.id < last.id)
    )
    return ordered.where(or_(is_later, and_(column == value, is_next)))


def _conditions(query: ThreadFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [threads.c.status != ThreadStatus.DELETED]
    if query.owner_id is not None:
        conditions.append(or_(threads.c.owner_id == query.owner_id, *map(_review_condition, query.reviews)))
    if query.asker_id is not None:
        conditions.append(threads.c.asker_id == query.asker_id)
    if query.agents is not None:
        conditions.append(threads.c.agent.in_(query.agents) if query.agents else false())
    if query.statuses is not None:
        conditions.append(threads.c.status.in_(query.statuses) if query.statuses else false())
        if ThreadStatus.IDLE not in query.statuses:
            conditions.append(_IS_BUSY)
    if query.has_failed is not None:
        has_failed = _LAST_STATUS.is_not_distinct_from(RunStatus.FAILED)
        conditions.append(has_failed if query.has_failed else ~has_failed)
    if query.is_hosted is not None:
        conditions.append(threads.c.asker_id.is_(None) if query.is_hosted else threads.c.asker_id.is_not(None))
    if query.ids is not None:
        conditions.append(threads.c.id.in_(query.ids) if query.ids else false())
    return conditions + _texts(query.metadata)


def _review_condition(name: str) -> ColumnElement[bool]:
    """As `domain.principal.review_key` names it."""
    owner_id, slash, agent = name.rpartition(OF_OWNER)
    if not slash:
        return and_(threads.c.agent == name, threads.c.asker_id.is_(None))
    return and_(threads.c.owner_id == owner_id, threads.c.agent == agent, threads.c.asker_id.is_not(None))


def _texts(metadata: Mapping[str, JsonValue]) -> list[ColumnElement[bool]]:
    """What stands in the JSON of metadata that have these fields. Numbers are left out: they have several spellings."""
    column = type_coerce(threads.c.metadata, Text)
    written = [
        f"{json.dumps(key)}:{json.dumps(value)}"
        for key, value in metadata.items()
        if value is None or isinstance(value, str | bool)
    ]
    return [column.contains(one, autoescape=True) for one in written[:MOST_TEXTS]]
