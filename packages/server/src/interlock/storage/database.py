"""Connections and transactions. Everything above works on an `AsyncConnection` that `write` or `read` lends it."""

import asyncio
import os
import sqlite3
import stat
from collections.abc import AsyncGenerator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from sqlalchemy import URL, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.errors import InvalidInput, StorageUnavailable
from interlock.storage.sqlite_driver import InlineConnection, create_sqlite_engine
from interlock.storage.statements import Preparations

Result = TypeVar("Result")

BUSY_SECONDS = 30
GROUP_SIZE = 64
"""How many transactions may share one commit, so that the first of them does not wait for long."""


class Database(Protocol):
    """One database, whichever it is."""

    @property
    def is_shared(self) -> bool:
        """Whether other servers may work on it at the same time."""
        ...

    def write(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A transaction that commits durably when the block ends, and rolls back when it raises."""
        ...

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """One consistent state of the database, for reading."""
        ...

    async def close(self) -> None: ...


def sqlite_file(url: str) -> Path | None:
    """The file behind a URL of SQLite, None for any other database."""
    address = _parse(url)
    if address.get_backend_name() != "sqlite":
        return None
    if not address.database or address.database == ":memory:":
        raise InvalidInput("SQLite needs a file: a pause that is only in memory is lost with the process")
    return Path(address.database).expanduser()


def _parse(url: str) -> URL:
    try:
        return make_url(url)
    except ArgumentError as error:
        raise InvalidInput(f"{url!r} is not a database URL: {error}") from error


def open_database(url: str) -> Database:
    """The database behind a URL: `sqlite:///path/to/file.db` or `postgresql://user@host/name`."""
    file = sqlite_file(url)
    if file is not None:
        return SqliteDatabase(file)
    address = _parse(url)
    if address.get_backend_name() == "postgresql":
        try:
            return PostgresDatabase(address)
        except ModuleNotFoundError as error:
            raise InvalidInput("PostgreSQL needs the extra postgres: install interlock-server[postgres]") from error
    name = address.get_backend_name()
    raise InvalidInput(f"{name} is not supported: use sqlite:///path/to/file.db or postgresql://user@host/name")


@asynccontextmanager
async def _translate_errors() -> AsyncGenerator[None]:
    """Turn the driver's failures into the one error that callers know."""
    try:
        yield
    except (OperationalError, InterfaceError, InternalError) as error:
        raise StorageUnavailable(f"the database cannot be used: {error.orig}") from error
    except (sqlite3.OperationalError, sqlite3.InterfaceError) as error:
        raise StorageUnavailable(f"the database cannot be used: {error}") from error
    except PoolTimeout as error:
        raise StorageUnavailable("the database has no free connection") from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise StorageUnavailable(f"the connection to the database was lost: {error.orig}") from error
        raise


async def _to_the_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Await `work` until it is done, and only then let a cancellation through."""
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # looked at, so that it is not reported as an error nobody saw
        raise cancelled
    return task.result()


def _keep_private(file: Path) -> None:
    """Conversations are in it in clear. SQLite makes the files beside it as readable as this one."""
    with suppress(OSError):
        # What cannot be made is told by whoever opens it.
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    for one in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
        with suppress(FileNotFoundError, PermissionError):
            if stat.S_IMODE(one.stat().st_mode) & 0o077:
                one.chmod(0o600)


class SqliteDatabase:
    """One file, one writing connection. Transactions that queue up behind each other share one durable commit.

    Each keeps its own savepoint, so one that fails takes nothing of the others with it, and each is told that it is
    committed only after the commit that holds it.
    """

    is_shared = False

    def __init__(self, file: Path) -> None:
        self.file = file
        self.file.parent.mkdir(parents=True, exist_ok=True)
        _keep_private(self.file)
        self.engine = create_sqlite_engine(self.file)
        event.listen(self.engine, "connect", _prepare_sqlite)
        self._preparations = Preparations(self.engine.dialect)
        self._turn = asyncio.Lock()
        self._waiting_count = 0
        self._writer: InlineConnection | None = None
        self._readers: list[InlineConnection] = []
        self._group: asyncio.Future[None] | None = None
        self._group_size = 0
        self._flush_tasks: set[asyncio.Task[None]] = set()
        # Of its own, so that no tool that keeps other threads busy can hold up a commit.
        self._thread = ThreadPoolExecutor(1, "interlock-sqlite")

    @asynccontextmanager
    async def write(self) -> AsyncGenerator[AsyncConnection]:
        async with _translate_errors():
            await self._acquire()
            group: asyncio.Future[None] | None = None
            failure: Exception | None = None
            try:
                try:
                    group = await _to_the_end(self._enter())
                    yield cast("AsyncConnection", self._connection)
                except BaseException as error:
                    with suppress(Exception):
                        await _to_the_end(self._leave(failed=True))
                    if not isinstance(error, Exception):
                        raise
                    failure = error
                else:
                    await _to_the_end(self._leave(failed=False))
            finally:
                self._turn.release()
            # Also who failed: what it read may be another member's, and is not true before the commit.
            if group is not None:
                await asyncio.shield(group)
            if failure is not None:
                raise failure

    async def _acquire(self) -> None:
        self._waiting_count += 1
        try:
            await self._turn.acquire()
        except BaseException:
            # Whoever left the group open counted on this one to commit it.
            flushing = asyncio.create_task(self._flush())
            self._flush_tasks.add(flushing)
            flushing.add_done_callback(self._flush_tasks.discard)
            raise
        finally:
            self._waiting_count -= 1

    async def _flush(self) -> None:
        async with self._turn:
            if self._group is None or self._waiting_count:
                return
            try:
                await self._finish("COMMIT")
            except Exception as error:
                await self._abandon(error)

    @property
    def _connection(self) -> InlineConnection:
        assert self._writer is not None
        return self._writer

    async def _enter(self) -> asyncio.Future[None]:
        try:
            if self._writer is None:
                self._writer = InlineConnection(self.engine, self._preparations)
                self._writer.run("PRAGMA busy_timeout=0")
            if self._group is None:
                await self._begin()
                self._group = asyncio.get_running_loop().create_future()
                self._group_size = 0
            else:
                self._writer.run("SAVEPOINT member")
        except Exception as error:
            await self._abandon(error)
            raise
        self._group_size += 1
        return self._group

    async def _begin(self) -> None:
        """Begin at once if nobody else writes; else wait for them, another process, in the thread."""
        writer = self._connection
        try:
            writer.run("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            writer.run(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
            await self._in_thread("BEGIN IMMEDIATE")
            writer.run("PRAGMA busy_timeout=0")

    async def _in_thread(self, statement: str) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.run, statement)

    async def _leave(self, *, failed: bool) -> None:
        if self._group is None:
            # It never entered: the group was abandoned on the way in.
            return
        alone = self._group_size == 1
        try:
            if failed and alone:
                await self._finish("ROLLBACK")
                return
            if failed:
                self._connection.run("ROLLBACK TO member")
            if not alone:
                self._connection.run("RELEASE member")
            if not self._waiting_count or self._group_size >= GROUP_SIZE:
                await self._finish("COMMIT")
        except Exception as error:
            await self._abandon(error)
            raise

    async def _finish(self, statement: str) -> None:
        # A commit waits for the disk.
        await self._in_thread(statement)
        group, self._group = self._group, None
        if group is not None and not group.done():
            group.set_result(None)

    async def _abandon(self, error: Exception) -> None:
        """The commit did not happen: nobody in the group may believe that it did."""
        group, self._group = self._group, None
        if group is not None and not group.done():
            group.set_exception(StorageUnavailable(f"the transaction was not committed: {error}"))
            group.exception()
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncConnection]:
        async with _translate_errors():
            reader = self._readers.pop() if self._readers else InlineConnection(self.engine, self._preparations)
            try:
                reader.run("BEGIN")
                yield cast("AsyncConnection", reader)
                reader.run("ROLLBACK")
            except BaseException:
                # Whatever it was, the connection is not in a state that the next reader could trust.
                reader.close()
                raise
            self._readers.append(reader)

    async def close(self) -> None:
        await self._flush()
        for connection in (*self._readers, *filter(None, [self._writer])):
            connection.close()
        self._readers.clear()
        self._writer = None
        self.engine.dispose()
        self._thread.shutdown()


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        f"busy_timeout={BUSY_SECONDS * 1000}",
        "secure_delete=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


class PostgresDatabase:
    is_shared = True

    def __init__(self, url: URL) -> None:
        from interlock.storage.postgres_driver import Connections

        # A server that was stopped in the middle of a transaction must not keep its threads locked for others.
        self._connections = Connections(url, f"-c idle_in_transaction_session_timeout={BUSY_SECONDS * 1000}")

    @asynccontextmanager
    async def write(self) -> AsyncGenerator[AsyncConnection]:
        async with _translate_errors(), self._connections.transaction("BEGIN", "COMMIT") as connection:
            yield cast("AsyncConnection", connection)

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncConnection]:
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        async with _translate_errors(), self._connections.transaction(begin, "ROLLBACK") as connection:
            yield cast("AsyncConnection", connection)

    async def close(self) -> None:
        await self._connections.close()
