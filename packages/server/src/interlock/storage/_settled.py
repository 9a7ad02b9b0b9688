"""The list of what was settled, the newest first."""

from typing import Any

from sqlalchemy import ColumnElement, Row, and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.ports.filters import SettledFilter
from interlock.storage._pending import IS_KEPT, is_reviewed
from interlock.storage.schema import answers, requests


async def page(connection: AsyncConnection, wanted: SettledFilter, limit: int) -> list[Row[Any]]:
    query = (
        select(requests)
        .outerjoin(answers, answers.c.request_id == requests.c.id)
        .where(requests.c.settled_at.is_not(None), IS_KEPT, *_conditions(wanted))
        .order_by(requests.c.settled_at.desc(), requests.c.id.desc())
        .limit(limit)
    )
    return list((await connection.execute(query)).all())


def _conditions(wanted: SettledFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.owner_id is not None:
        own = requests.c.owner_id == wanted.owner_id
        conditions.append(or_(own, *(and_(*is_reviewed(review)) for review in wanted.reviews)))
    if wanted.who is not None:
        conditions.append(func.coalesce(requests.c.ended_by, answers.c.by_name) == wanted.who)
    if wanted.source is not None:
        conditions.append(func.coalesce(requests.c.ended_source, answers.c.source) == wanted.source)
    if wanted.tool is not None:
        conditions.append(requests.c.tool == wanted.tool)
    if wanted.statuses is not None:
        conditions.append(requests.c.status.in_(wanted.statuses))
    if wanted.since is not None:
        conditions.append(requests.c.settled_at >= wanted.since)
    if wanted.until is not None:
        conditions.append(requests.c.settled_at <= wanted.until)
    if wanted.before is not None:
        at, request_id = wanted.before
        same_moment = and_(requests.c.settled_at == at, requests.c.id < request_id)
        conditions.append(or_(requests.c.settled_at < at, same_moment))
    return conditions
