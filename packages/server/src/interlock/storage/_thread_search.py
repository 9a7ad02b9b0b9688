"""Threads found by what is known of them, and by what their metadata contain.

A database's own type for JSON does not take every text that Interlock keeps. Here a text search leaves out most of what
does not fit, and the rest is looked at in Python, a page at a time.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Text, and_, false, or_, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.json_value import JsonValue
from interlock.domain.principal import OF_OWNER
from interlock.domain.thread import ThreadStatus
from interlock.domain.thread_metadata import contains
from interlock.ports.filters import ThreadFilter
from interlock.storage.schema import threads

PAGE = 500
MOST_TEXTS = 50
"""How many fields the database looks for: SQLite takes no condition of more than a thousand parts."""


async def search(
    connection: AsyncConnection, query: ThreadFilter, columns: tuple[Any, ...], offset: int, limit: int
) -> Sequence[Row[Any]]:
    """The one last touched first."""
    wanted = select(*columns).where(*_conditions(query)).order_by(threads.c.updated_at.desc(), threads.c.id.desc())
    if not query.metadata:
        rows: Any = await connection.execute(wanted.offset(offset).limit(limit))
        return rows.all()
    found: list[Row[Any]] = []
    last: Row[Any] | None = None
    while len(found) < offset + limit:
        page = (await connection.execute(_after(wanted, last).limit(PAGE))).all()
        found += [row for row in page if contains(row.metadata, query.metadata)]
        if len(page) < PAGE:
            break
        last = page[-1]
    return found[offset : offset + limit]


def _after(query: Any, last: Row[Any] | None) -> Any:
    if last is None:
        return query
    is_of_that_moment = and_(threads.c.updated_at == last.updated_at, threads.c.id < last.id)
    return query.where(or_(threads.c.updated_at < last.updated_at, is_of_that_moment))


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
