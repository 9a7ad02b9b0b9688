"""Policies: versions that never change, and which of them counts."""

from typing import Any

from sqlalchemy import Row, Table, bindparam, func, select

from interlock.domain.policy import Activation, PolicyVersion
from interlock.storage._repository import Repository, insert_for
from interlock.storage.schema import policy_activations, policy_versions

_LAST = select(policy_activations).order_by(policy_activations.c.step.desc()).limit(1)
_BY_NUMBER = select(policy_versions).where(policy_versions.c.number == bindparam("number"))
_NEWEST_FIRST = select(policy_versions).order_by(policy_versions.c.number.desc())


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

    async def _add(self, table: Table, row: PolicyVersion | Activation) -> bool:
        statement = insert_for(table, is_postgres=self._is_postgres).on_conflict_do_nothing()
        return await self._changed(statement, {column.name: getattr(row, column.name) for column in table.c})


def _version(row: Row[Any]) -> PolicyVersion:
    return PolicyVersion(row.number, row.text, row.by_id, row.by_name, row.note, row.engine, row.created_at)
