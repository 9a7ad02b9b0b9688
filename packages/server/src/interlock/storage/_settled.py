"""The list of what was settled, the newest first."""

from typing import Any

from sqlalchemy import ColumnElement, Row, and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.ports.filters import AlikeFilter, SettledFilter
from interlock.storage._pending import IS_KEPT, is_reviewed
from interlock.storage.schema import answers, requests


async def page(connection: AsyncConnection, query: SettledFilter, limit: int) -> list[Row[Any]]:
    statement = (
        select(requests)
        .outerjoin(answers, answers.c.request_id == requests.c.id)
        .where(requests.c.settled_at.is_not(None), IS_KEPT, *_conditions(query))
        .order_by(requests.c.settled_at.desc(), requests.c.id.desc())
        .limit(limit)
    )
    return list((await connection.execute(statement)).all())


async def alike(connection: AsyncConnection, query: AlikeFilter, limit: int) -> list[str]:
    statement = (
        select(requests.c.id)
        .where(
            requests.c.owner_id == query.owner_id,
            requests.c.agent == query.agent,
            requests.c.definition == query.definition,
            requests.c.settled_at.is_not(None),
            # Said for the partial index; SQLite does not conclude it from the equality.
            requests.c.definition.is_not(None),
            requests.c.tool == query.tool,
            IS_KEPT,
        )
        .order_by(requests.c.settled_at.desc(), requests.c.id.desc())
        .limit(limit)
    )
    if query.before is not None:
        statement = statement.where(requests.c.settled_at < query.before)
    return list(await connection.scalars(statement))


def _conditions(query: SettledFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if query.owner_id is not None:
        own = requests.c.owner_id == query.owner_id
        conditions.append(or_(own, *(and_(*is_reviewed(review)) for review in query.reviews)))
    if query.who is not None:
        conditions.append(func.coalesce(requests.c.ended_by, answers.c.by_name) == query.who)
    if query.source is not None:
        conditions.append(func.coalesce(requests.c.ended_source, answers.c.source) == query.source)
    if query.tool is not None:
        conditions.append(requests.c.tool == query.tool)
    if query.statuses is not None:
        conditions.append(requests.c.status.in_(query.statuses))
    if query.since is not None:
        conditions.append(requests.c.settled_at >= query.since)
    if query.until is not None:
        conditions.append(requests.c.settled_at <= query.until)
    if query.before is not None:
        at, request_id = query.before
        same_moment = and_(requests.c.settled_at == at, requests.c.id < request_id)
        conditions.append(or_(requests.c.settled_at < at, same_moment))
    return conditions
