"""Take a backup: every table as it is at one moment, while servers work."""

import hashlib
import os
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from sqlalchemy import ColumnElement, LargeBinary, Select, Table, Text, bindparam, select, tuple_, type_coerce
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.errors import InvalidInput, StorageUnavailable
from interlock.storage.backup_format import (
    KINDS,
    MANIFEST,
    SEALED_KEY,
    Manifest,
    Part,
    backup_tables,
    kind_of,
    line_of,
    seal_key,
)
from interlock.storage.database import Database
from interlock.storage.key_ring import MasterKey, unlock
from interlock.storage.migrate import revision_of
from interlock.storage.schema import Json

MANY, FEW = 1_000, 50
"""How many rows are read at once: few of those that hold whole states of agents."""


async def take_backup(
    database: Database, master: MasterKey, path: Path, version: str, at: datetime, passphrase: str | None = None
) -> Manifest:
    """Write the file, which must be new and is there only when it is whole; with a passphrase, the master key too."""
    with _whole_file(path) as target, ZipFile(target, "w", ZIP_DEFLATED) as archive:
        async with database.read() as connection:
            keys = await unlock(connection, master)
            revision = await connection.run_sync(revision_of)
            parts = [await _write_part(connection, archive, table) for table in backup_tables()]
        manifest = Manifest(version, revision or "", at, tuple(parts))
        manifest = replace(manifest, mac=manifest.mac_under(keys.audit))
        text = manifest.encode()
        archive.writestr(MANIFEST, text)
        if passphrase is not None:
            archive.writestr(SEALED_KEY, seal_key(keys.master, passphrase, text))
    return manifest


async def _write_part(connection: AsyncConnection, archive: ZipFile, table: Table) -> Part:
    columns = {column.name: kind_of(column) for column in table.columns}
    kinds = [KINDS[kind] for kind in columns.values()]
    rows, summed = 0, hashlib.sha256()
    part = Part(table.name, columns, 0, "")
    with archive.open(part.file, "w", force_zip64=True) as target:
        try:
            async for page in _pages(connection, table):
                lines = b"".join(line_of(kinds, row) for row in page)
                target.write(lines)
                summed.update(lines)
                rows += len(page)
        except (ValueError, TypeError) as error:
            raise StorageUnavailable(f"the table {table.name} has a row that no server wrote: {error}") from error
    return replace(part, rows=rows, sha256=summed.hexdigest())


async def _pages(connection: AsyncConnection, table: Table) -> AsyncGenerator[Sequence[Any]]:
    """By the primary key, page after page: neither driver would give a large table row by row."""
    size = FEW if any(isinstance(column.type, LargeBinary) for column in table.columns) else MANY
    key = list(table.primary_key.columns)
    places = [list(table.columns).index(column) for column in key]
    first = _select(table).order_by(*key).limit(size)
    names = [f"after_{column.name}" for column in key]
    after = tuple_(*(bindparam(name, type_=column.type) for name, column in zip(names, key, strict=True)))
    following = first.where(tuple_(*key) > after)
    page: Sequence[Any] = (await connection.execute(first)).all()
    while page:
        yield page
        if len(page) < size:
            return
        last = {name: page[-1][place] for name, place in zip(names, places, strict=True)}
        page = (await connection.execute(following, last)).all()


def _select(table: Table) -> Select[Any]:
    columns: list[ColumnElement[Any]] = [
        type_coerce(column, Text).label(column.name) if isinstance(column.type, Json) else column
        for column in table.columns
    ]
    return select(*columns)


@contextmanager
def _whole_file(path: Path) -> Generator[IO[bytes]]:
    """A new file that only its owner may read: under its name only when all of it is on the disk."""
    if path.exists():
        raise InvalidInput(f"{path} is there already: name a file that is not")
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be made: {error.strerror}") from error
    try:
        with os.fdopen(handle, "w+b") as target:
            yield target
            target.flush()
            os.fsync(target.fileno())
        beside.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        beside.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
