"""Policies: versions that never change, and which of them counts."""

from datetime import datetime
from typing import Any

from sqlalchemy import Row, Table, bindparam, case, func, select

from interlock.domain.policy import Activation, PolicyVersion, Ruling, ShadowCell, ShadowSample, ShadowWord
from interlock.storage._pending_requests import IS_KEPT
from interlock.storage._repository import Repository, insert_for
from interlock.storage.schema import (
    policy_activations,
    policy_shadow_words,
    policy_shadows,
    policy_versions,
    requests,
)

_LAST = select(policy_activations).order_by(policy_activations.c.step.desc()).limit(1)
_BY_NUMBER = select(policy_versions).where(policy_versions.c.number == bindparam("number"))
_NEWEST_FIRST = select(policy_versions).order_by(policy_versions.c.number.desc())


_LAST_AT = _LAST.where(policy_activations.c.at <= bindparam("moment"))
_LAST_SHADOW = select(policy_shadows).order_by(policy_shadows.c.step.desc()).limit(1)
_OF_VERSION = policy_shadow_words.c.version == bindparam("version")
_CELL = policy_shadow_words.c.active_ruling, policy_shadow_words.c.ruling
_CELLS = (
    select(
        *_CELL,
        func.count(),
        func.sum(case((policy_shadow_words.c.failed, 1), else_=0)),
        func.min(policy_shadow_words.c.at),
    )
    .where(_OF_VERSION)
    .group_by(*_CELL)
)
_SAMPLES = (
    select(
        requests.c.id,
        requests.c.tool,
        requests.c.agent,
        policy_shadow_words.c.at,
        policy_shadow_words.c.active_version,
        policy_shadow_words.c.active_rule,
        policy_shadow_words.c.rule,
        policy_shadow_words.c.failed,
    )
    .join(requests, requests.c.id == policy_shadow_words.c.request_id)
    .where(_OF_VERSION, _CELL[0] == bindparam("active"), _CELL[1] == bindparam("shadow"), IS_KEPT)
    .order_by(policy_shadow_words.c.at.desc())
)


class SqlPolicies(Repository):
    async def activation(self) -> Activation | None:
        row = (await self._connection.execute(_LAST)).one_or_none()
        return None if row is None else Activation(row.step, row.number, row.by_name, row.at)

    async def activate(self, activation: Activation) -> bool:
        return await self._add(policy_activations, activation)

    async def get(self, number: int) -> PolicyVersion | None:
        row = (await self._connection.execute(_BY_NUMBER, {"number": number})).one_or_none()
        return None if row is None else _version(row)

    async def versions(self, limit: int, before: int | None = None) -> list[PolicyVersion]:
        query = _NEWEST_FIRST.limit(limit)
        if before is not None:
            query = query.where(policy_versions.c.number < before)
        return [_version(row) for row in await self._connection.execute(query)]

    async def last_number(self) -> int:
        return await self._connection.scalar(select(func.max(policy_versions.c.number))) or 0

    async def add(self, version: PolicyVersion) -> bool:
        return await self._add(policy_versions, version)

    async def activation_at(self, moment: datetime) -> Activation | None:
        row = (await self._connection.execute(_LAST_AT, {"moment": moment})).one_or_none()
        return None if row is None else Activation(row.step, row.number, row.by_name, row.at)

    async def shadow(self) -> Activation | None:
        row = (await self._connection.execute(_LAST_SHADOW)).one_or_none()
        return None if row is None else Activation(row.step, row.number, row.by_name, row.at)

    async def change_shadow(self, change: Activation) -> bool:
        return await self._add(policy_shadows, change)

    async def add_word(self, word: ShadowWord) -> None:
        values = {
            "version": word.version,
            "request_id": word.request_id,
            "thread_id": word.thread_id,
            "ruling": word.word.ruling,
            "rule": word.word.rule,
            "failed": word.failed,
            "active_version": word.active_version,
            "active_ruling": word.active.ruling,
            "active_rule": word.active.rule,
            "at": word.at,
        }
        statement = insert_for(policy_shadow_words, is_postgres=self._is_postgres).on_conflict_do_nothing()
        await self._connection.execute(statement, values)

    async def shadow_cells(self, version: int) -> list[ShadowCell]:
        rows = await self._connection.execute(_CELLS, {"version": version})
        return [ShadowCell(Ruling(row[0]), Ruling(row[1]), row[2], row[3] or 0, row[4]) for row in rows]

    async def shadow_samples(self, version: int, cell: ShadowCell, limit: int) -> list[ShadowSample]:
        values = {"version": version, "active": cell.active, "shadow": cell.shadow}
        rows = await self._connection.execute(_SAMPLES.limit(limit), values)
        return [ShadowSample(*row) for row in rows]

    async def _add(self, table: Table, row: PolicyVersion | Activation) -> bool:
        statement = insert_for(table, is_postgres=self._is_postgres).on_conflict_do_nothing()
        return await self._changed(statement, {column.name: getattr(row, column.name) for column in table.c})


def _version(row: Row[Any]) -> PolicyVersion:
    return PolicyVersion(row.number, row.text, row.by_id, row.by_name, row.note, row.engine, row.created_at)
