"""Reading the audit trail. Its rows are taken as anybody may have left them: no value of one makes a reader fail."""

import json
from collections.abc import Collection
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Executable,
    Row,
    Select,
    Text,
    and_,
    bindparam,
    exists,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    type_coerce,
)

from interlock.domain.audit import SERVER_CHAIN, AuditEntry, AuditHead, AuditPosition, StoredAnswer
from interlock.storage._repository import Repository, batched
from interlock.storage.schema import SafeText, answers, audit, audit_heads, requests, threads
from interlock.storage.threads import IS_ALIVE

_UNREADABLE = datetime.min.replace(tzinfo=UTC)
_ENTRY_COLUMNS: tuple[ColumnElement[Any], ...] = (
    audit.c.thread_id,
    audit.c.number,
    type_coerce(audit.c.at, Text).label("at"),
    audit.c.actor_id,
    audit.c.actor_name,
    audit.c.action,
    type_coerce(audit.c.data, Text).label("data"),
    audit.c.hash,
)
_IS_RECORDED = (
    select(audit.c.number)
    .where(audit.c.thread_id == bindparam("thread_id"), audit.c.action == bindparam("action"))
    .order_by(audit.c.number)
    .limit(literal_column("1"))
)
_ANSWER_COLUMNS: tuple[ColumnElement[Any], ...] = (
    answers.c.request_id,
    func.coalesce(requests.c.thread_id, "").label("thread_id"),
    type_coerce(answers.c.value, Text).label("value"),
    answers.c.by_id,
    answers.c.by_name,
    answers.c.source,
    answers.c.origin,
)
_WITH_REQUEST = answers.outerjoin(requests, requests.c.id == answers.c.request_id)
_ANSWERS = select(*_ANSWER_COLUMNS).select_from(_WITH_REQUEST)
_ALL_ANSWERS = (
    _ANSWERS.where(answers.c.request_id > bindparam("after")).order_by(answers.c.request_id).limit(bindparam("limit"))
)


@cache
def _entries(*, is_postgres: bool) -> Select[Any]:
    found = select(*_ENTRY_COLUMNS)
    if is_postgres:
        return found
    # SQLite takes any value in any column, and these are what pages go by: an entry without them is a missing one.
    return found.where(_has_type(audit.c.thread_id, "text"), _has_type(audit.c.number, "integer"))


@cache
def _of_chain(*, is_postgres: bool) -> Executable:
    mine = (audit.c.thread_id == bindparam("thread_id"), audit.c.number > bindparam("number"))
    return _entries(is_postgres=is_postgres).where(*mine).order_by(audit.c.number).limit(bindparam("limit"))


@cache
def _trail(*, is_postgres: bool) -> Executable:
    after = tuple_(bindparam("thread_id", type_=SafeText), bindparam("number", type_=BigInteger))
    found = _entries(is_postgres=is_postgres).where(tuple_(audit.c.thread_id, audit.c.number) > after)
    return found.order_by(audit.c.thread_id, audit.c.number).limit(bindparam("limit"))


@cache
def _heads(*, is_postgres: bool, lone: bool) -> Executable:
    found = select(audit_heads).where(audit_heads.c.thread_id > bindparam("after"))
    if lone:
        found = found.where(~exists().where(audit.c.thread_id == audit_heads.c.thread_id))
    if not is_postgres:
        found = found.where(_has_type(audit_heads.c.thread_id, "text"))
    return found.order_by(audit_heads.c.thread_id).limit(bindparam("limit"))


def _has_type(column: Column[Any], name: str) -> ColumnElement[bool]:
    return func.typeof(column) == literal_column(f"'{name}'")


class AuditReading(Repository):
    async def entries(self, thread_id: str, after_number: int, limit: int) -> list[AuditEntry]:
        values = {"thread_id": thread_id, "number": after_number, "limit": limit}
        found = await self._connection.execute(_of_chain(is_postgres=self._is_postgres), values)
        return [_entry(row) for row in found]

    async def trail(self, after_chain: str, after_number: int, limit: int) -> list[AuditEntry]:
        values = {"thread_id": after_chain, "number": after_number, "limit": limit}
        found = await self._connection.execute(_trail(is_postgres=self._is_postgres), values)
        return [_entry(row) for row in found]

    async def page(
        self,
        limit: int,
        *,
        owner_id: str | None = None,
        thread_id: str | None = None,
        action: str | None = None,
        before: AuditPosition | None = None,
    ) -> list[AuditEntry]:
        found = _entries(is_postgres=self._is_postgres).limit(limit)
        if action is not None:
            found = found.where(audit.c.action == action)
        if owner_id is not None:
            owned = select(threads.c.id).where(threads.c.owner_id == owner_id, IS_ALIVE, threads.c.id != SERVER_CHAIN)
            found = found.where(audit.c.thread_id.in_(owned))
        found = _newest(found, before) if thread_id is None else _last_of(found, thread_id, before)
        return [_entry(row) for row in await self._connection.execute(found)]

    async def heads(self, after_chain: str, limit: int) -> list[AuditHead]:
        return await self._some_heads(after_chain, limit, lone=False)

    async def heads_of(self, thread_ids: Collection[str]) -> dict[str, AuditHead]:
        heads: dict[str, AuditHead] = {}
        for some in batched(thread_ids):
            found = await self._connection.execute(select(audit_heads).where(audit_heads.c.thread_id.in_(some)))
            heads |= {row.thread_id: head_of(row) for row in found}
        return heads

    async def lone_heads(self, after_chain: str, limit: int) -> list[AuditHead]:
        return await self._some_heads(after_chain, limit, lone=True)

    async def _some_heads(self, after_chain: str, limit: int, *, lone: bool) -> list[AuditHead]:
        statement = _heads(is_postgres=self._is_postgres, lone=lone)
        found = await self._connection.execute(statement, {"after": after_chain, "limit": limit})
        return [head_of(row) for row in found]

    async def is_recorded(self, thread_id: str, action: str) -> bool:
        return await self._connection.scalar(_IS_RECORDED, {"thread_id": thread_id, "action": action}) is not None

    async def stored_answers(self, request_ids: Collection[str]) -> dict[str, StoredAnswer]:
        stored: dict[str, StoredAnswer] = {}
        for some in batched(request_ids):
            found = await self._connection.execute(_ANSWERS.where(answers.c.request_id.in_(some)))
            stored |= {row.request_id: _answer(row) for row in found}
        return stored

    async def all_stored_answers(self, after_request: str, limit: int) -> list[StoredAnswer]:
        found = await self._connection.execute(_ALL_ANSWERS, {"after": after_request, "limit": limit})
        return [_answer(row) for row in found]

    async def count_stored_answers(self) -> int:
        return await self._connection.scalar(select(func.count()).select_from(answers)) or 0


def _newest(found: Select[Any], before: AuditPosition | None) -> Select[Any]:
    at, chain, number = audit.c.at, audit.c.thread_id, audit.c.number
    if before is not None:
        found = found.where(_is_before(before))
    return found.order_by(at.desc(), chain.desc(), number.desc())


def _is_before(position: AuditPosition) -> ColumnElement[bool]:
    at, chain, number = audit.c.at, audit.c.thread_id, audit.c.number
    same = and_(at == position.at, or_(chain < position.chain, and_(chain == position.chain, number < position.number)))
    # The first condition alone is what the index is searched by.
    return and_(at <= position.at, or_(at < position.at, same))


def _last_of(found: Select[Any], thread_id: str, before: AuditPosition | None) -> Select[Any]:
    found = found.where(audit.c.thread_id == thread_id)
    if before is not None:
        found = found.where(audit.c.number < before.number)
    return found.order_by(audit.c.number.desc())


def head_of(row: Row[Any]) -> AuditHead:
    return AuditHead(row.thread_id, row.number, str(row.hash), str(row.mac))


def _entry(row: Row[Any]) -> AuditEntry:
    return AuditEntry(
        chain=row.thread_id,
        number=row.number,
        at=_moment(row.at),
        actor_id=str(row.actor_id),
        actor_name=str(row.actor_name),
        action=str(row.action),
        data=_parse(row.data),
        hash=str(row.hash),
    )


def _answer(row: Any) -> StoredAnswer:
    return StoredAnswer(
        row.request_id,
        row.thread_id,
        _parse(row.value),
        str(row.by_id),
        str(row.by_name),
        str(row.source),
        str(row.origin),
    )


def _parse(text: Any) -> Any:
    """The value; what is no JSON stays as it stands, and is then no value that anybody recorded."""
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return text if isinstance(text, str) else repr(text)


def _moment(value: Any) -> datetime:
    """SQLite keeps moments as text, without their zone."""
    try:
        at = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return _UNREADABLE
