"""SQLite for an event loop, without a thread behind every statement.

A statement on a local file takes less time than handing it to a thread and back, so statements run where they are
called, on SQLAlchemy's plain connection. What waits for the disk, or for another process, does go to a thread: see
`SqliteDatabase`.
"""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Dialect, Engine, create_engine
from sqlalchemy.pool import NullPool

from interlock.storage.statements import Parameters, Preparations


def create_sqlite_engine(file: Path) -> Engine:
    return create_engine(
        f"sqlite:///{file}",
        isolation_level="AUTOCOMMIT",
        poolclass=NullPool,
        connect_args={"check_same_thread": False},
    )


class InlineConnection:
    """What the repositories use of SQLAlchemy's `AsyncConnection`, on a connection that never waits."""

    def __init__(self, engine: Engine, preparations: Preparations) -> None:
        self._connection: Connection = engine.connect()
        self._preparations = preparations
        raw: Any = self._connection.connection.driver_connection
        self._raw: sqlite3.Connection = raw

    @property
    def dialect(self) -> Dialect:
        return self._connection.dialect

    async def execute(self, statement: Any, parameters: Any = None, **options: Any) -> Any:
        given: Parameters = parameters or {}
        prepared = self._preparations.find(statement, given)
        if prepared is not None:
            return prepared.run(self._raw, given)
        return self._connection.execute(statement, parameters, **options)

    async def scalar(self, statement: Any, parameters: Any = None) -> Any:
        return (await self.execute(statement, parameters)).scalar()

    async def scalars(self, statement: Any, parameters: Any = None) -> Any:
        return self._connection.scalars(statement, parameters)

    async def exec_driver_sql(self, statement: str) -> Any:
        return self._connection.exec_driver_sql(statement)

    async def run_sync(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return function(self._connection, *args, **kwargs)

    def run(self, statement: str) -> None:
        """Straight to the driver: for what begins and ends transactions, from whichever thread."""
        self._raw.execute(statement)

    def close(self) -> None:
        self._connection.invalidate()
        self._connection.close()
