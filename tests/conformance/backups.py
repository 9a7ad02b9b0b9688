"""Backups for the tests: a database with something in every table, and files that somebody has changed."""

import hashlib
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from sqlalchemy import Connection, Table, insert, inspect, select, text

from interlock.storage.backup_format import MANIFEST, Manifest, backup_tables, kind_of, manifest_of
from interlock.storage.backup_reading import open_backup
from interlock.storage.backup_restoring import restore
from interlock.storage.backup_writing import take_backup
from interlock.storage.database import Database, open_database
from interlock.storage.key_ring import KeyRing, MasterKey, open_ring
from interlock.storage.migrate import apply
from interlock.storage.schema import audit, audit_heads, metadata, server_keys
from interlock.storage.store import SqlTransaction
from tests.conformance.examples import AT, after

LONG = 130
"""More rows than are read at once, of the tables of which few are."""

_VALUES: dict[str, Callable[[int], Any]] = {
    "text": lambda number: f"{number} \ufffd 日本 😀 \\ \" '\n\t\u2028",
    "json": lambda number: {"n": number, "text": "\0 \ud800 日本", "deep": [None, True, 0.1, 2**80]},
    "integer": lambda number: 2**31 - 1 - number,
    "float": lambda number: 0.1 + number,
    "boolean": lambda number: number % 2 == 0,
    "moment": lambda number: after(number + 0.000001),
    "bytes": lambda number: bytes(range(256)) + bytes([number % 256]),
}


@dataclass
class Source:
    """A database that was used, its keys, and what is in it."""

    database: Database
    master: MasterKey
    ring: KeyRing

    async def taken(self, path: Path, passphrase: str | None = None) -> Manifest:
        return await take_backup(self.database, self.master, path, "0.0", AT, passphrase)


async def filled(database: Database, master: MasterKey) -> Source:
    ring = await open_ring(database, master, AT)
    async with database.write() as connection:
        for table in metadata.sorted_tables:
            # What these hold is checked when it is restored.
            if table not in (server_keys, audit, audit_heads):
                rows = [_row(table, number) for number in range(LONG if table.name.startswith("checkpoint") else 3)]
                await connection.execute(insert(table), rows)
    return Source(database, master, ring)


def _row(table: Table, number: int) -> dict[str, Any]:
    """Every other row is empty wherever it may be."""
    return {
        column.name: None if column.nullable and number % 2 else _VALUES[kind_of(column)](number)
        for column in table.columns
    }


async def contents(database: Database) -> dict[str, list[Any]]:
    """Everything that a backup has to keep."""
    found: dict[str, list[Any]] = {}
    async with database.read() as connection:
        for table in backup_tables():
            rows = (await connection.execute(select(table))).all()
            found[table.name] = sorted((tuple(map(_comparable, row)) for row in rows), key=repr)
    return found


def _comparable(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value


@asynccontextmanager
async def restored(url: str, path: Path, master: MasterKey) -> AsyncGenerator[Database]:
    """The database, with the backup in it."""
    database = open_database(url)
    try:
        with open_backup(path) as backup:
            backup.check()
            await restore(database, backup, master, _nothing)
        yield database
    finally:
        await database.close()


async def _nothing(_tx: SqlTransaction) -> None: ...


async def tables_in(database: Database) -> list[str]:
    async with database.read() as connection:
        return sorted(await connection.run_sync(lambda sync: inspect(sync).get_table_names()))


async def revision_in(database: Database) -> str:
    async with database.read() as connection:
        return str(await connection.scalar(text("SELECT version_num FROM alembic_version")))


Parts = dict[str, bytes]


def read_parts(path: Path) -> Parts:
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_parts(path: Path, parts: Parts) -> None:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def summed_again(parts: Parts, key: bytes | None = None, **changes: Any) -> Parts:
    """With a manifest that fits the parts as they are now; with the key, one that nobody can tell from a true one."""
    manifest = manifest_of(parts[MANIFEST])
    kept = [part for part in manifest.parts if part.file in parts]
    fitting = [
        replace(part, rows=parts[part.file].count(b"\n"), sha256=hashlib.sha256(parts[part.file]).hexdigest())
        for part in kept
    ]
    manifest = replace(manifest, parts=tuple(fitting), **changes)
    if key is not None:
        manifest = replace(manifest, mac=manifest.mac_under(key))
    return parts | {MANIFEST: manifest.encode()}


def without_columns(parts: Parts, table: str, *names: str) -> Parts:
    """As an older version wrote the table."""
    manifest = manifest_of(parts[MANIFEST])
    part = next(part for part in manifest.parts if part.name == table)
    places = [place for place, name in enumerate(part.columns) if name not in names]
    rows = [json.loads(line) for line in parts[part.file].splitlines()]
    lines = b"".join(json.dumps([row[place] for place in places]).encode() + b"\n" for row in rows)
    older = replace(part, columns={name: kind for name, kind in part.columns.items() if name not in names})
    others = tuple(older if one is part else one for one in manifest.parts)
    return parts | {part.file: lines, MANIFEST: replace(manifest, parts=others).encode()}


async def shape_at(revision: str, path: Path) -> dict[str, set[str]]:
    """The tables of that revision, and their columns."""

    def build(connection: Connection) -> dict[str, set[str]]:
        apply(connection, revision)
        inspector = inspect(connection)
        return {name: {one["name"] for one in inspector.get_columns(name)} for name in inspector.get_table_names()}

    database = open_database(f"sqlite:///{path}")
    async with database.write() as connection:
        shape: dict[str, set[str]] = await connection.run_sync(build)
    await database.close()
    return shape


def as_of(parts: Parts, shape: dict[str, set[str]]) -> Parts:
    """As a version wrote it whose tables were these."""
    for part in manifest_of(parts[MANIFEST]).parts:
        if part.name not in shape:
            parts = {name: content for name, content in parts.items() if name != part.file}
        elif later := set(part.columns) - shape[part.name]:
            parts = without_columns(parts, part.name, *later)
    return parts


def bytes_of(path: Path) -> bytes:
    return path.read_bytes()


def put_bytes(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def beside(path: Path) -> list[str]:
    """The backups in its folder, whole or not."""
    return sorted(one.name for one in path.parent.iterdir() if ".zip" in one.name)
