"""Backups: everything as it was, in either database, or nothing at all."""

import json
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text

from interlock.domain.errors import Conflict, InvalidInput, StorageUnavailable
from interlock.master_key import GivenKey, KeyFile
from interlock.storage.backup_format import MANIFEST, SEALED_KEY, backup_tables
from interlock.storage.backup_reading import open_backup
from interlock.storage.database import Database, open_database
from interlock.storage.key_ring import open_ring
from interlock.storage.migrate import is_current, migrate
from interlock.storage.schema import marks, requests, tickets, workers
from tests.conformance.backups import (
    Parts,
    Source,
    as_of,
    beside,
    bytes_of,
    contents,
    filled,
    mode_of,
    put_bytes,
    read_parts,
    restored,
    revision_in,
    shape_at,
    summed_again,
    tables_in,
    without_columns,
    write_parts,
)
from tests.conformance.examples import AT
from tests.conftest import BACKENDS, MASTER_KEY
from tests.servers.postgres import PostgresServer

PASSPHRASE = "correct horse battery"

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
to_sqlite = pytest.mark.parametrize("target_url", ["sqlite"], indirect=True)


@pytest.fixture
def master(tmp_path: Path) -> KeyFile:
    file = tmp_path / "secret.key"
    file.touch(0o600)
    file.write_bytes(MASTER_KEY)
    return KeyFile(file)


@pytest.fixture
async def source(database: Database, master: KeyFile) -> Source:
    return await filled(database, master)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backup.zip"


@pytest.fixture(params=BACKENDS)
def target_url(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    """Another database, without tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/target/interlock.db"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.fresh_database() as url:
        yield url


async def test_everything_is_the_same_again_in_either_database(source: Source, file: Path, target_url: str) -> None:
    before = await contents(source.database)
    manifest = await source.taken(file)
    assert {part.name: part.rows for part in manifest.parts} == {name: len(rows) for name, rows in before.items()}
    async with restored(target_url, file, source.master) as database:
        assert await contents(database) == before
        assert await is_current(database)
        ring = await open_ring(database, source.master, AT)
        assert (ring.audit, ring.tokens, ring.replies) == (source.ring.audit, source.ring.tokens, source.ring.replies)


@to_sqlite
async def test_what_holds_for_moments_only_is_not_kept(source: Source, file: Path, target_url: str) -> None:
    await source.taken(file)
    assert not {"tickets.jsonl", "workers.jsonl"} & set(read_parts(file))
    async with restored(target_url, file, source.master) as database, database.read() as connection:
        for table in (tickets, workers):
            assert (await connection.execute(select(table))).all() == []


@on_sqlite
async def test_a_backup_is_its_owners_alone_and_there_only_when_it_is_whole(source: Source, file: Path) -> None:
    await source.taken(file)
    assert mode_of(file) == 0o600
    written = read_parts(file)
    with pytest.raises(InvalidInput, match="is there already"):
        await source.taken(file)
    assert read_parts(file) == written
    with pytest.raises(InvalidInput, match="cannot be made"):
        await source.taken(file.parent / "nowhere" / "backup.zip")
    assert beside(file) == [file.name]


@on_sqlite
async def test_a_row_that_no_server_wrote_is_named_and_no_file_is_left(source: Source, file: Path) -> None:
    async with source.database.write() as connection:
        await connection.execute(text("UPDATE users SET created_at = 'yesterday'"))
    with pytest.raises(StorageUnavailable, match="users"):
        await source.taken(file)
    assert beside(file) == []


def edited(parts: Parts) -> Parts:
    return parts | {"users.jsonl": parts["users.jsonl"].replace(b"0 ", b"9 ", 1)}


def shortened(parts: Parts) -> Parts:
    return parts | {"checkpoints.jsonl": parts["checkpoints.jsonl"].rpartition(b"[")[0]}


def of_other_types(parts: Parts) -> Parts:
    return summed_again(parts | {"users.jsonl": parts["users.jsonl"].replace(b'"', b"1", 2)})


def twice(parts: Parts) -> Parts:
    return summed_again(parts | {"users.jsonl": parts["users.jsonl"] * 2})


def told(parts: Parts, /, **changes: object) -> Parts:
    return parts | {MANIFEST: json.dumps(json.loads(parts[MANIFEST]) | changes).encode()}


SPOILED: list[tuple[Callable[[Parts], Parts], str]] = [
    (edited, "'users'"),
    (shortened, "'checkpoints'"),
    (of_other_types, "'users'"),
    (twice, "'users'"),
    (lambda parts: summed_again(edited(parts)), "manifest is not the one"),
    (lambda parts: summed_again(without_columns(parts, "users", "role")), "'users'"),
    (lambda parts: {name: part for name, part in parts.items() if name != "runs.jsonl"}, "parts are not those"),
    (lambda parts: parts | {"more.jsonl": b""}, "parts are not those"),
    (lambda parts: {name: part for name, part in parts.items() if name != MANIFEST}, "manifest.json cannot be read"),
    (lambda parts: parts | {MANIFEST: b"[]"}, "manifest cannot be read"),
    (lambda parts: told(parts, parts=[{"name": "users"}]), "manifest cannot be read"),
    (lambda parts: told(parts, revision=1), "manifest cannot be read"),
    (lambda parts: told(parts, taken_at="2026-11-15T12:00:00"), "manifest cannot be read"),
    (lambda parts: told(parts, format=2), "newer version"),
    (lambda parts: told(parts, revision="9999"), "newer version"),
]


@on_sqlite
@to_sqlite
async def test_a_file_that_was_changed_is_refused_and_nothing_is_changed(
    source: Source, file: Path, target_url: str
) -> None:
    await source.taken(file)
    parts = read_parts(file)
    for spoil, reason in SPOILED:
        write_parts(file, spoil(parts))
        await assert_refused(target_url, file, source, reason)


DAMAGED: list[tuple[Callable[[bytes], bytes], str]] = [
    (lambda content: b"", "no backup, or was cut off"),
    (lambda content: content[:-100], "no backup, or was cut off"),
    (lambda content: content[: len(content) // 2], "no backup, or was cut off"),
    (lambda content: content[:2_000] + bytes(64) + content[2_064:], "is damaged"),
]


@on_sqlite
@to_sqlite
async def test_a_file_that_was_damaged_is_refused_and_nothing_is_changed(
    source: Source, file: Path, target_url: str
) -> None:
    await source.taken(file)
    whole = bytes_of(file)
    for damage, reason in DAMAGED:
        put_bytes(file, damage(whole))
        await assert_refused(target_url, file, source, reason)


async def assert_refused(url: str, file: Path, source: Source, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        async with restored(url, file, source.master):
            pass
    database = open_database(url)
    assert await tables_in(database) == []
    await database.close()


@on_sqlite
async def test_a_part_that_is_wrong_at_its_end_takes_everything_back(
    source: Source, file: Path, target_url: str
) -> None:
    await source.taken(file)
    write_parts(file, summed_again(edited(read_parts(file))))
    await assert_refused(target_url, file, source, "manifest is not the one")


async def test_a_database_with_tables_and_nothing_in_them_is_empty(source: Source, file: Path, target_url: str) -> None:
    await source.taken(file)
    target = open_database(target_url)
    await migrate(target)
    await target.close()
    async with restored(target_url, file, source.master) as database:
        assert await contents(database) == await contents(source.database)


@on_sqlite
async def test_a_database_with_anything_in_it_is_refused_and_left_alone(
    source: Source, file: Path, target_url: str
) -> None:
    await source.taken(file)
    target = open_database(target_url)
    await migrate(target)
    async with target.write() as connection:
        await connection.execute(insert(marks), {"name": "one", "value": 1})
    with pytest.raises(Conflict, match="marks"):
        async with restored(target_url, file, source.master):
            pass
    found = await contents(target)
    assert {name for name, rows in found.items() if rows} == {"marks"}
    await target.close()


@on_sqlite
async def test_tables_of_another_program_are_left_alone(source: Source, file: Path, target_url: str) -> None:
    await source.taken(file)
    target = open_database(target_url)
    async with target.write() as connection:
        await connection.execute(text("CREATE TABLE users (id INTEGER)"))
    with pytest.raises(Conflict, match="another program"):
        async with restored(target_url, file, source.master):
            pass
    assert await tables_in(target) == ["users"]
    await target.close()


@on_sqlite
async def test_a_backup_of_an_older_schema_is_brought_up_to_date(source: Source, file: Path, target_url: str) -> None:
    await source.taken(file)
    known = await shape_at("0002", file.with_name("older.db"))
    parts = as_of(read_parts(file), known)
    assert "marks.jsonl" not in parts
    write_parts(file, summed_again(parts, source.ring.audit, revision="0002"))
    before = await contents(source.database)
    async with restored(target_url, file, source.master) as database:
        assert await is_current(database)
        assert await revision_in(database) == await revision_in(source.database)
        found = await contents(database)
        for table in backup_tables():
            is_as_before = known.get(table.name) == set(table.columns.keys())
            assert found[table.name] == before[table.name] or not is_as_before
            assert len(found[table.name]) == (len(before[table.name]) if table.name in known else 0)
        async with database.read() as connection:
            assert {row.ended_by for row in (await connection.execute(select(requests))).all()} == {None}


@on_sqlite
async def test_the_key_of_another_server_does_not_open_a_backup(source: Source, file: Path, target_url: str) -> None:
    await source.taken(file)
    with pytest.raises(InvalidInput, match="INTERLOCK_SECRET_KEY is not the key"):
        async with restored(target_url, file, GivenKey("the key of another server")):
            pass
    database = open_database(target_url)
    assert await tables_in(database) == []
    await database.close()


@on_sqlite
async def test_the_master_key_is_in_no_backup_but_under_a_passphrase(source: Source, file: Path) -> None:
    await source.taken(file)
    assert SEALED_KEY not in read_parts(file)
    with open_backup(file) as backup, pytest.raises(InvalidInput, match="holds no key"):
        backup.key(PASSPHRASE)
    sealed = file.with_name("sealed.zip")
    await source.taken(sealed, PASSPHRASE)
    for content in [sealed.read_bytes(), *read_parts(sealed).values(), *read_parts(file).values()]:
        for secret in (MASTER_KEY, source.ring.audit, *source.ring.tokens.values(), PASSPHRASE.encode()):
            assert secret not in content
    with open_backup(sealed) as backup:
        assert backup.key(PASSPHRASE) == MASTER_KEY
        with pytest.raises(InvalidInput, match="does not open"):
            backup.key(PASSPHRASE + " ")


@on_sqlite
async def test_a_sealed_key_opens_beside_its_own_manifest_only(source: Source, file: Path) -> None:
    await source.taken(file, PASSPHRASE)
    async with source.database.write() as connection:
        await connection.execute(insert(marks), {"name": "later", "value": 1})
    later = file.with_name("later.zip")
    await source.taken(later, PASSPHRASE)
    write_parts(later, read_parts(later) | {SEALED_KEY: read_parts(file)[SEALED_KEY]})
    with open_backup(later) as backup, pytest.raises(InvalidInput, match="does not open"):
        backup.key(PASSPHRASE)
    write_parts(later, read_parts(later) | {SEALED_KEY: b"\x01short"})
    with open_backup(later) as backup, pytest.raises(InvalidInput, match="does not open"):
        backup.key(PASSPHRASE)


@on_sqlite
async def test_a_passphrase_that_is_soon_guessed_is_refused(source: Source, file: Path) -> None:
    with pytest.raises(InvalidInput, match="12 characters"):
        await source.taken(file, "too short")
    assert beside(file) == []
