"""Migrations: they build the tables of the schema, once, whoever starts at the same moment."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect, text

from interlock.domain.errors import StorageUnavailable
from interlock.storage import migrate as migrating
from interlock.storage.database import Database, open_database
from interlock.storage.migrate import is_current, migrate
from interlock.storage.schema import metadata
from interlock.storage.sealing import Sealer
from interlock.storage.store import SqlStore

REQUEST = """
    INSERT INTO requests (id, pause_id, thread_id, kind, status, position, body, form, risk, created_at)
    VALUES (:id, 'p', 't', 'approval', 'answered', 0, '{}', '{}', :risk, CURRENT_TIMESTAMP)
"""
GRANT = """
    INSERT INTO grants (id, owner_id, agent, scope, definition, allow, by_id, by_name, request_id, created_at, uses)
    VALUES (:id, 'u', 'demo', 'all_tools', 'd', TRUE, 'u', 'ann', :request_id, CURRENT_TIMESTAMP, 0)
"""
REVISIONS = sorted(path.name[:4] for path in Path(migrating.__file__).parent.glob("migrations/0*.py"))


@pytest.fixture
async def empty(empty_database_url: str) -> AsyncGenerator[Database]:
    opened = open_database(empty_database_url)
    yield opened
    await opened.close()


async def test_the_migrations_build_exactly_the_schema(empty: Database) -> None:
    await migrate(empty)
    async with empty.read() as connection:
        assert await connection.run_sync(differences) == []
        assert await connection.run_sync(shape) == expected_shape()


def differences(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), metadata))


Shape = dict[str, tuple[tuple[str, ...], dict[str, tuple[tuple[str, ...], bool]]]]


def shape(connection: Connection) -> Shape:
    """Primary keys and indexes, which Alembic does not compare on every database."""
    inspector = inspect(connection)
    return {
        table: (
            tuple(inspector.get_pk_constraint(table)["constrained_columns"]),
            {
                str(index["name"]): (tuple(str(name) for name in index["column_names"]), bool(index["unique"]))
                for index in inspector.get_indexes(table)
                if not index.get("duplicates_constraint")
            },
        )
        for table in metadata.tables
    }


def expected_shape() -> Shape:
    return {
        name: (
            tuple(column.name for column in table.primary_key.columns),
            {
                str(index.name): (tuple(str(column.name) for column in index.columns), bool(index.unique))
                for index in table.indexes
            },
        )
        for name, table in metadata.tables.items()
    }


async def test_the_conditions_of_partial_indexes_are_those_of_the_schema(empty: Database, tmp_path: Path) -> None:
    await migrate(empty)
    if empty.is_shared:
        query = text("SELECT indexname, indexdef FROM pg_indexes WHERE indexdef LIKE '%WHERE%' ORDER BY 1")
        async with empty.write() as connection:
            built = [tuple(row) for row in await connection.execute(query)]
            await connection.run_sync(metadata.drop_all)
            await connection.run_sync(metadata.create_all)
            assert [tuple(row) for row in await connection.execute(query)] == built
        return
    query = text("SELECT name, sql FROM sqlite_master WHERE sql LIKE '%WHERE%' ORDER BY 1")
    other = open_database(f"sqlite:///{tmp_path}/other.db")
    async with empty.read() as connection, other.write() as created:
        await created.run_sync(metadata.create_all)
        built = [tuple(row) for row in await connection.execute(query)]
        assert [tuple(row) for row in await created.execute(query)] == built
    await other.close()
    assert len(built) == 20


async def test_older_grants_cover_the_risk_they_were_given_on_and_none_above_it(empty: Database) -> None:
    before = REVISIONS[REVISIONS.index("0007") - 1]
    asked = {"medium": "perm_medium", "high": "perm_high", "": "perm_unrated", "low": "perm_low"}
    async with empty.write() as connection:
        await connection.run_sync(migrating.apply, before)
        for risk, request_id in asked.items():
            await connection.execute(text(REQUEST), {"id": request_id, "risk": risk})
        for request_id in (*asked.values(), "perm_deleted"):
            await connection.execute(text(GRANT), {"id": f"grant_{request_id}", "request_id": request_id})
    await migrate(empty)
    async with empty.write() as connection:
        # As a server of an earlier version goes on to write them beside this one.
        await connection.execute(text(GRANT), {"id": "grant_later", "request_id": "perm_high"})
    async with SqlStore(empty, sealer=Sealer(bytes(32)), audit_key=b"k").snapshot() as tx:
        found = {grant.id: grant.ceiling for grant in await tx.grants.of_person("u")}
    assert found == {
        "grant_perm_low": "low",
        "grant_perm_medium": "medium",
        "grant_perm_high": "high",
        "grant_perm_unrated": "low",
        "grant_perm_deleted": "low",
        "grant_later": "low",
    }


async def test_migrating_twice_does_nothing_the_second_time(empty: Database) -> None:
    assert not await is_current(empty)
    assert await migrate(empty) == REVISIONS
    assert await is_current(empty)
    assert await migrate(empty) == []
    assert await is_current(empty)


async def test_of_servers_that_start_at_once_one_migrates(empty_database_url: str) -> None:
    servers = [open_database(empty_database_url) for _ in range(4)]
    try:
        applied = await asyncio.gather(*(migrate(server) for server in servers))
        assert sorted(applied) == [[], [], [], REVISIONS]
        assert all([await is_current(server) for server in servers])
    finally:
        for server in servers:
            await server.close()


async def test_a_migration_that_fails_leaves_nothing(empty: Database) -> None:
    # In the way of the last table.
    async with empty.write() as connection:
        await connection.execute(text("CREATE TABLE checkpoint_writes (id INTEGER)"))
    with pytest.raises(Exception, match="already exists"):
        await migrate(empty)
    async with empty.read() as connection:
        assert await connection.run_sync(lambda sync: inspect(sync).get_table_names()) == ["checkpoint_writes"]
    assert not await is_current(empty)


async def test_a_database_of_a_newer_version_is_refused_and_left_alone(empty: Database) -> None:
    await migrate(empty)
    async with empty.write() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert not await is_current(empty)
    with pytest.raises(StorageUnavailable):
        await migrate(empty)
