"""Put a backup into an empty database: all of it, in one transaction, or nothing."""

import hmac
import sqlite3
from collections.abc import Awaitable, Callable
from itertools import islice

from sqlalchemy import Column, Connection, MetaData, Table, insert, inspect, select, text
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.errors import Conflict, InvalidInput
from interlock.storage.backup_format import KINDS, LEFT_OUT, Part
from interlock.storage.backup_reading import BackupFile
from interlock.storage.database import Database
from interlock.storage.deployment import NONE_YET
from interlock.storage.key_ring import KeyRing, MasterKey, lock, unlock
from interlock.storage.migrate import apply, is_known, lock_schema, revision_of
from interlock.storage.schema import metadata
from interlock.storage.store import SqlTransaction

FEW = 50


async def restore(
    database: Database, backup: BackupFile, master: MasterKey, then: Callable[[SqlTransaction], Awaitable[None]]
) -> None:
    """Restore, and do what is to be done `then` in the same transaction.

    `Conflict` when the database has anything in it; `InvalidInput` when the file is not what was written, or the master
    key is not the one that it was written with.
    """
    async with database.write() as connection:
        await lock_schema(connection)
        await lock(connection)
        await connection.run_sync(_build, backup.manifest.revision)
        for part in backup.manifest.parts:
            if part.name not in [table.name for table in LEFT_OUT]:
                await _fill(connection, backup, part)
        await connection.run_sync(apply)
        await connection.execute(NONE_YET)
        keys = await unlock(connection, master)
        if not hmac.compare_digest(backup.manifest.mac_under(keys.audit), backup.manifest.mac):
            raise InvalidInput(f"{backup.path} was changed: its manifest is not the one that was written")
        ring = KeyRing(master, keys)
        await then(SqlTransaction(connection, ring, ring.audit, ring.replies))


def _build(connection: Connection, revision: str) -> None:
    """The tables as they were in the backup's time, in the place of those that are there and empty."""
    names = set(inspect(connection).get_table_names())
    present = [table for table in metadata.sorted_tables if table.name in names]
    current = revision_of(connection)
    if present if current is None else not is_known(current):
        raise Conflict("the database has tables of another program, or of a newer version: restore into an empty one")
    for table in present:
        if connection.execute(select(text("1")).select_from(table).limit(1)).first() is not None:
            raise Conflict(
                f"the database is not empty: there is something in {table.name}. A backup is restored into an empty "
                "one: name another --data folder or --database"
            )
    metadata.drop_all(connection, present)
    connection.execute(text("DROP TABLE IF EXISTS alembic_version"))
    apply(connection, revision)


async def _fill(connection: AsyncConnection, backup: BackupFile, part: Part) -> None:
    there = await connection.run_sync(_columns, part.name)
    if there != set(part.columns):
        raise backup.damage_error(part)
    # A table for this alone: what is in the file may be older than the tables that this version knows.
    columns = [Column(name, KINDS[kind].type) for name, kind in part.columns.items()]
    statement = insert(Table(part.name, MetaData(), *columns))
    rows = backup.rows(part)
    try:
        while page := list(islice(rows, FEW)):
            await connection.execute(statement, page)
    except (IntegrityError, DataError, sqlite3.IntegrityError) as error:
        raise backup.damage_error(part) from error


def _columns(connection: Connection, table: str) -> set[str]:
    inspector = inspect(connection)
    return {column["name"] for column in inspector.get_columns(table)} if inspector.has_table(table) else set()
