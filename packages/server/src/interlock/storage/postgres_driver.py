"""PostgreSQL with as few round trips as there can be.

A connection that was kept is not asked first whether it still lives: `BEGIN` is that question, and the answer is a new
connection. Statements that are used again and again go straight to the driver, which has the server prepare them.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import psycopg
from psycopg.pq import TransactionStatus
from sqlalchemy import URL, Dialect
from sqlalchemy.exc import DBAPIError, InternalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from interlock.storage.statements import Parameters, Preparations, PreparedStatement, Rows

MOST = 30
"""Connections at once."""
KEPT = 20
"""Connections that are kept for who comes next."""
WAIT_SECONDS = 30
PREPARED = 500
"""Statements that the server keeps prepared for a connection; there are about 200."""


class DirectConnection:
    """What the repositories use of SQLAlchemy's `AsyncConnection`."""

    def __init__(self, connection: AsyncConnection, preparations: Preparations) -> None:
        self._connection = connection
        self._preparations = preparations
        raw: Any = connection.sync_connection and connection.sync_connection.connection.driver_connection
        self._raw: psycopg.AsyncConnection[Any] = raw
        self._raw.prepared_max = PREPARED

    @property
    def dialect(self) -> Dialect:
        return self._connection.dialect

    @property
    def is_usable(self) -> bool:
        """Whether the next transaction may begin on it."""
        return not self._raw.closed and self._raw.info.transaction_status is TransactionStatus.IDLE

    async def execute(self, statement: Any, parameters: Any = None, **options: Any) -> Any:
        given: Parameters = parameters or {}
        prepared = self._preparations.find(statement, given)
        if prepared is None:
            return await self._connection.execute(statement, parameters, **options)
        return await self._translated(prepared.sql, self._run(prepared, given))

    async def _run(self, prepared: PreparedStatement, given: Parameters) -> Rows:
        cursor = self._raw.cursor()
        sql = cast("Any", prepared.sql)
        if isinstance(given, Mapping):
            await cursor.execute(sql, prepared.named(given))
        elif len(given) == 1:
            await cursor.execute(sql, prepared.named(given[0]))
        else:
            await cursor.executemany(sql, [prepared.named(each) for each in given])
            return Rows([], cursor.rowcount)
        rows = await cursor.fetchall() if cursor.description else []
        return Rows([prepared.row(row) for row in rows], cursor.rowcount)

    async def scalar(self, statement: Any, parameters: Any = None) -> Any:
        return (await self.execute(statement, parameters)).scalar()

    async def scalars(self, statement: Any, parameters: Any = None) -> Any:
        return await self._connection.scalars(statement, parameters)

    async def exec_driver_sql(self, statement: str) -> Any:
        return await self._connection.exec_driver_sql(statement)

    async def run_sync(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await self._connection.run_sync(function, *args, **kwargs)

    async def run(self, statement: str) -> None:
        """Straight to the driver: for what begins and ends transactions."""
        cursor = await self._translated(statement, self._raw.execute(cast("Any", statement)))
        if statement == "COMMIT" and cursor.statusmessage != statement:
            # A statement of it had failed, and nobody had heard: PostgreSQL then rolls back without an error.
            raise InternalError(statement, None, psycopg.InternalError("the transaction was rolled back"))

    async def _translated(self, statement: str, work: Any) -> Any:
        try:
            return await work
        except psycopg.Error as error:
            raise DBAPIError.instance(
                statement, None, error, psycopg.Error, connection_invalidated=self._raw.closed, dialect=self.dialect
            ) from error

    async def close(self) -> None:
        with suppress(DBAPIError, psycopg.Error):
            await self._raw.close()
        with suppress(DBAPIError, psycopg.Error):
            await self._connection.invalidate()
        with suppress(DBAPIError, psycopg.Error):
            await self._connection.close()


class Connections:
    """So many at the most, of which some are kept for who comes next."""

    def __init__(self, url: URL, options: str) -> None:
        self.engine: AsyncEngine = create_async_engine(
            url.set(drivername="postgresql+psycopg"),
            isolation_level="AUTOCOMMIT",
            poolclass=NullPool,
            connect_args={"options": options},
        )
        self._preparations = Preparations(self.engine.dialect)
        self._kept: list[DirectConnection] = []
        self._places = asyncio.Semaphore(MOST)

    @asynccontextmanager
    async def transaction(self, begin: str, end: str) -> AsyncGenerator[DirectConnection]:
        """One that begins and ends with these words, and is rolled back when the block raises."""
        await self._take_place()
        try:
            connection = await self._begun(begin)
            try:
                yield connection
                await connection.run(end)
            except BaseException:
                with suppress(Exception):
                    if not connection.is_usable:
                        await connection.run("ROLLBACK")
                raise
            finally:
                await self._keep(connection)
        finally:
            self._places.release()

    async def _take_place(self) -> None:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._places.acquire()
        except TimeoutError as error:
            raise PoolTimeout("every connection is taken") from error

    async def _begun(self, begin: str) -> DirectConnection:
        while self._kept:
            connection = self._kept.pop()
            try:
                await connection.run(begin)
            except DBAPIError:
                # The server ended it meanwhile, and so perhaps the others: nothing was done on it yet.
                await connection.close()
            except BaseException:
                await connection.close()
                raise
            else:
                return connection
        return await self._opened(begin)

    async def _opened(self, begin: str) -> DirectConnection:
        connection = DirectConnection(await self.engine.connect(), self._preparations)
        try:
            await connection.run(begin)
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _keep(self, connection: DirectConnection) -> None:
        if connection.is_usable and len(self._kept) < KEPT:
            self._kept.append(connection)
        else:
            await connection.close()

    async def close(self) -> None:
        while self._kept:
            await self._kept.pop().close()
        await self.engine.dispose()
