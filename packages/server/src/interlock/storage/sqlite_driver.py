"""SQLite for an event loop, without a thread behind every statement.

A statement on a local file takes less time than handing it to a thread and back, so statements run where they are
called. What waits for the disk or for another process does go to a thread: see `SqliteDatabase`.
"""

import sqlite3
from typing import Any

from sqlalchemy import URL
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.pool import AsyncAdaptedQueuePool, Pool
from sqlalchemy.util import await_only

DRIVER = "sqlite+inline"


async def _nothing() -> None: ...


class _Cursor(sqlite3.Cursor):
    """SQLAlchemy's asyncio layer takes a driver that never awaits for a mistake; this one awaits nothing."""

    def execute(self, *args: Any, **kwargs: Any) -> "_Cursor":
        await_only(_nothing())
        super().execute(*args, **kwargs)
        return self

    def executemany(self, *args: Any, **kwargs: Any) -> "_Cursor":
        await_only(_nothing())
        super().executemany(*args, **kwargs)
        return self

    async def _async_soft_close(self) -> None:
        """Called when a result was handed over; its rows are still to be fetched, which blocks nobody."""


class _Connection(sqlite3.Connection):
    def cursor(self, factory: Any = _Cursor) -> Any:
        return super().cursor(factory)


class InlineDialect(SQLiteDialect_pysqlite):
    driver = "inline"
    is_async = True
    supports_statement_cache = True

    def create_connect_args(self, url: URL) -> Any:
        args, options = super().create_connect_args(url)
        return args, {**options, "check_same_thread": False, "factory": _Connection}

    @classmethod
    def get_pool_class(cls, url: URL) -> type[Pool]:
        return AsyncAdaptedQueuePool


registry.register("sqlite.inline", __name__, InlineDialect.__name__)
