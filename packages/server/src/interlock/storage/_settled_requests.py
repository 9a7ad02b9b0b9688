"""The list of what was settled, the newest first."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, RowMapping, Select, Text, and_, cast, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.figures import SettledAsk
from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import ApprovalAnswer, RequestKind, value_from_json
from interlock.domain.policy import Ruling
from interlock.domain.request import AnswerOrigin
from interlock.ports.filters import AlikeFilter, SettledFilter
from interlock.storage._pending_requests import IS_KEPT, is_reviewed
from interlock.storage.schema import answers, policy_shadow_words, requests


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
    return list(await connection.scalars(alike_statement(query, limit)))


def alike_statement(query: AlikeFilter, limit: int) -> Select[str]:
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
    return statement


async def asks(connection: AsyncConnection, since: datetime, person_id: str | None, limit: int) -> list[SettledAsk]:
    """Without what was asked: only its length is read."""
    length = func.length(cast(requests.c.body, Text)).label("length")
    answer = answers.c.by_id, answers.c.origin, answers.c.value, answers.c.metadata
    word = policy_shadow_words.c
    in_shadow = exists().where(word.request_id == requests.c.id, word.ruling != Ruling.ASK).label("in_shadow")
    some = (
        select(requests.c.owner_id, requests.c.settled_at, requests.c.kind, length, in_shadow, *answer)
        .outerjoin_from(requests, answers, answers.c.request_id == requests.c.id)
        .where(requests.c.settled_at >= since, IS_KEPT)
        .order_by(requests.c.settled_at.desc())
        .limit(limit)
    )
    parts = [some]
    if person_id is not None:
        # Each in the order of an index of its own; what is asked and answered by one person is in the first alone.
        own, answered = requests.c.owner_id == person_id, answers.c.by_id == person_id
        by_answer = some.order_by(None).order_by(answers.c.at.desc())
        parts = [some.where(own), by_answer.where(answered, answers.c.at >= since, ~own)]
    found = [_ask(row) for part in parts for row in (await connection.execute(part)).mappings()]
    return sorted(found, key=lambda one: one.settled_at, reverse=True)[:limit]


def _ask(row: RowMapping) -> SettledAsk:
    metadata: JsonObject = row["metadata"] or {}
    dwell = metadata.get("dwell_ms")
    value = None if row["value"] is None else value_from_json(RequestKind(row["kind"]), row["value"])
    return SettledAsk(
        owner_id=row["owner_id"],
        settled_at=row["settled_at"],
        length=row["length"],
        by_id=row["by_id"],
        origin=None if row["origin"] is None else AnswerOrigin(row["origin"]),
        runs=value.runs if isinstance(value, ApprovalAnswer) else None,
        dwell_ms=dwell if isinstance(dwell, int) else None,
        has_rule_in_shadow=bool(row["in_shadow"]),
    )


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
