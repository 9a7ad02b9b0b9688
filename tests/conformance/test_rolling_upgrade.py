"""Servers of two versions on one database: the older goes on while the newer migrates and takes over."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import Connection, inspect, text

from interlock.domain.errors import StorageUnavailable
from interlock.storage import migrate as migrating
from interlock.storage.database import Database, open_database
from interlock.storage.migrate import is_current, migrate
from tests.servers.postgres import PostgresServer
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.warm import WarmProcess

SECONDS = 60.0
KEY = {"INTERLOCK_SECRET_KEY": "the same key for each of the servers"}
REVISIONS = sorted(path.name[:4] for path in Path(migrating.__file__).parent.glob("migrations/0*.py"))
NEWER = """
    ALTER TABLE requests ADD COLUMN of_a_later_version TEXT;
    ALTER TABLE threads ADD COLUMN of_a_later_version BIGINT NOT NULL DEFAULT 7;
    CREATE TABLE of_a_later_version (id TEXT PRIMARY KEY);
    UPDATE alembic_version SET version_num = '9999';
"""


@pytest.fixture
def url(postgres_server: PostgresServer) -> Generator[str]:
    with postgres_server.fresh_database() as made:
        yield made


@pytest.fixture
async def database(url: str) -> AsyncGenerator[Database]:
    opened = open_database(url)
    yield opened
    await opened.close()


def server(folder: Path, url: str) -> ServerProcess:
    return ServerProcess(folder, database=url, environment=KEY)


async def migrate_to(database: Database, revision: str) -> None:
    async with database.write() as connection:
        await connection.run_sync(migrating.apply, revision)


def migrate_beside(folder: Path, url: str) -> str:
    """`interlock migrate` as an operator runs it; what it said."""
    said, failed = folder / "migrate.out", folder / "migrate.err"
    process = WarmProcess(["migrate"], {"INTERLOCK_DATABASE": url}, said, failed, folder=folder)
    try:
        assert process.wait(SECONDS) == 0, failed.read_text()
    finally:
        process.kill()
    return said.read_text()


def ask_and_answer(client: ThreadsClient, name: str) -> None:
    thread = client.new_thread()
    assert "interrupt" in client.chat(thread, f"create {name}").events
    answered = client.resume(thread, "continue")
    assert answered.status == 200
    assert "error" not in answered.events


def test_servers_that_start_at_once_on_an_empty_database_all_come_up(url: str, tmp_path: Path) -> None:
    servers = [server(tmp_path / name, url) for name in ("one", "two")]
    try:
        with ThreadPoolExecutor(len(servers)) as starters:
            started = list(starters.map(ServerProcess.start, servers))
        client = ThreadsClient(started[0].url).sign_in()
        # Both are servers of the same database: a token of one is one of the other.
        thread = client.new_thread()
        other = client.at(started[1].url)
        assert other.status(thread)["status"] == "idle"
        client.http.close()
        other.http.close()
    finally:
        for one in servers:
            one.close()


def test_a_migration_beside_a_running_server_does_no_harm(url: str, tmp_path: Path) -> None:
    running = server(tmp_path / "running", url)
    try:
        client = ThreadsClient(running.start().url).sign_in()
        thread = client.new_thread()
        assert "interrupt" in client.chat(thread, "create before.txt").events
        assert migrate_beside(tmp_path, url).splitlines() == ["the database is up to date"]
        assert "error" not in client.resume(thread, "continue").events
        ask_and_answer(client, "after.txt")
        client.http.close()
    finally:
        running.close()


def test_a_server_goes_on_when_a_newer_one_has_migrated_its_database_and_does_not_start_again(
    url: str, tmp_path: Path
) -> None:
    older = server(tmp_path / "older", url)
    try:
        client = ThreadsClient(older.start().url).sign_in()
        thread = client.new_thread()
        assert "interrupt" in client.chat(thread, "create before.txt").events
        with psycopg.connect(url) as newer:
            newer.execute(NEWER)
        assert "error" not in client.resume(thread, "continue").events
        ask_and_answer(client, "after.txt")
        assert client.http.get("/readyz").status_code == 200
        client.http.close()
    finally:
        older.close()
    with pytest.raises(AssertionError, match="newer version"):
        older.start()
    assert older.running.wait(SECONDS) == 2


@pytest.mark.parametrize(("before", "after"), list(pairwise(REVISIONS)))
async def test_a_migration_only_adds_and_rewrites_no_table(database: Database, before: str, after: str) -> None:
    await migrate_to(database, before)
    async with database.read() as connection:
        old = await connection.run_sync(columns)
        files = await connection.run_sync(kept_in)
    await migrate_to(database, after)
    async with database.read() as connection:
        new = await connection.run_sync(columns)
        # A table that is written anew keeps everybody out for as long as that takes.
        assert files.items() <= (await connection.run_sync(kept_in)).items()
    for table, there in old.items():
        assert {name: new[table].get(name) for name in there} == there
        # What an older server inserts does not name it.
        added = {name: new[table][name] for name in new[table].keys() - there.keys()}
        assert [name for name, (_, may_be_left_out) in added.items() if not may_be_left_out] == []


def columns(connection: Connection) -> dict[str, dict[str, tuple[str, bool]]]:
    """Each table's columns, with their types and whether an insert may leave them out."""
    inspector = inspect(connection)
    return {
        table: {
            column["name"]: (str(column["type"]), column["nullable"] or column.get("default") is not None)
            for column in inspector.get_columns(table)
        }
        for table in inspector.get_table_names()
    }


def kept_in(connection: Connection) -> dict[str, int]:
    """The file that each table is kept in."""
    rows = connection.execute(
        text("SELECT relname, relfilenode FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
    )
    return {name: number for name, number in rows if name != "alembic_version"}


async def test_a_migration_gives_up_when_a_table_is_in_use_for_long_and_keeps_no_reader_waiting(
    url: str, database: Database
) -> None:
    # The next one adds columns, for which a table must not be in use.
    await migrate_to(database, "0002")
    async with database.read() as connection:
        there = await connection.run_sync(kept_in)
    backup = await psycopg.AsyncConnection.connect(url)
    try:
        # As pg_dump does it, from its beginning to its end.
        tables = sql.SQL(", ").join(map(sql.Identifier, there))
        await backup.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(tables))
        waiting = asyncio.create_task(migrate(database))
        with pytest.raises(StorageUnavailable, match="in use"):
            await asyncio.wait_for(waiting, SECONDS)
        async with database.read() as connection:
            assert (await connection.execute(text("SELECT count(*) FROM requests"))).scalar() == 0
        assert not await is_current(database)
    finally:
        await backup.close()
    assert await migrate(database) == REVISIONS[REVISIONS.index("0003") :]
