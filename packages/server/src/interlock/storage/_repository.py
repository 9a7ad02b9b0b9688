"""What every repository is built on: the transaction's connection, and which database it speaks to."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Column, ColumnElement, Executable, ScalarSelect, Table, bindparam, func, literal_column, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import CursorResult
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.storage.sealing import Sealer, UnknownKey

T = TypeVar("T")

BATCH = 1_000


def next_number(column: Column[Any]) -> ScalarSelect[Any]:
    """The number after the thread's last, for an INSERT that binds `of_thread`; nobody else counts there meanwhile.

    Order is by such numbers and not by time: clocks step back, and two rows may be of the same moment.
    """
    last = func.coalesce(func.max(column), 0)
    return select(last + 1).where(column.table.c.thread_id == bindparam("of_thread")).scalar_subquery()


def one_of(column: Column[Any], values: Iterable[str]) -> ColumnElement[bool]:
    """The column is one of these words of our own: written out, so that the statement is the same each time."""
    return column.in_([literal_column(f"'{value}'") for value in values])


def batched(values: Collection[T]) -> Iterator[list[T]]:
    """In parts that one statement can name: PostgreSQL takes 65,535 parameters, and no more."""
    rest = iter(values)
    while part := list(islice(rest, BATCH)):
        yield part


def insert_for(table: Table, *, is_postgres: bool) -> sqlite.Insert | postgresql.Insert:
    """An INSERT that knows ON CONFLICT: on PostgreSQL a failed statement would spoil its whole transaction."""
    return postgresql.insert(table) if is_postgres else sqlite.insert(table)


def record_values(source: Any, record: Any) -> dict[str, Any]:
    """By name, what a row or a record holds of the fields of a record, where the columns are called as they are."""
    return {one.name: getattr(source, one.name) for one in fields(record) if hasattr(source, one.name)}


class Repository:
    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    @property
    def _is_postgres(self) -> bool:
        return self._connection.dialect.name == "postgresql"

    async def _changed(self, statement: Executable, values: dict[str, Any] | None = None) -> bool:
        """Run a conditional statement; whether it changed the one row that it is about."""
        # SQLAlchemy keeps the count of an INSERT only when asked to.
        options = {"preserve_rowcount": True}
        result: CursorResult[Any] = await self._connection.execute(statement, values, execution_options=options)
        return result.rowcount == 1


class SealedRepository(Repository):
    """One with sealed values, which goes on after a rotation that another process made."""

    def __init__(self, connection: AsyncConnection, sealer: Sealer) -> None:
        super().__init__(connection)
        self._sealer = sealer

    async def _seal(self, text: str, *, context: str) -> bytes:
        await self._sealer.ready(self._connection)
        return self._sealer.seal(text, context=context)

    async def _open(self, blob: bytes, *, context: str) -> str:
        try:
            return self._sealer.open(blob, context=context)
        except UnknownKey:
            await self._sealer.reload(self._connection)
            return self._sealer.open(blob, context=context)
