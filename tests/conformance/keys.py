"""A master key in a file, databases seen by several processes, and what is in them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import select

from interlock.master_key import KeyFile
from interlock.storage.database import Database, open_database
from interlock.storage.key_ring import KeyRing, MasterKey, open_ring
from interlock.storage.key_rotation import RotationReport, rotate
from interlock.storage.schema import server_keys
from interlock.storage.store import SqlStore
from tests.conformance.examples import AT


@dataclass
class KeptKey:
    """`secret.key` of a data folder, and what a rotation leaves beside it."""

    path: Path

    @property
    def master(self) -> KeyFile:
        return KeyFile(self.path)

    @property
    def coming(self) -> Path:
        return self.path.with_name("secret.key.next")

    @property
    def mode(self) -> int:
        return self.path.stat().st_mode & 0o777

    def read(self) -> bytes | None:
        return self.path.read_bytes() if self.path.exists() else None

    def write(self, key: bytes, coming: bytes | None = None) -> None:
        self.path.touch(0o600)
        self.path.write_bytes(key)
        if coming is not None:
            self.coming.write_bytes(coming)

    def lose(self) -> None:
        self.path.unlink()


@asynccontextmanager
async def another(url: str) -> AsyncGenerator[Database]:
    """Another process's view of the same database."""
    database = open_database(url)
    try:
        yield database
    finally:
        await database.close()


async def rotated_apart(url: str, master: MasterKey) -> RotationReport | None:
    async with another(url) as database:
        return await rotate(database, master, AT)


def store_of(database: Database, ring: KeyRing) -> SqlStore:
    return SqlStore(database, sealer=ring, audit_key=ring.audit, replies_key=ring.replies)


async def started(database: Database, master: MasterKey) -> SqlStore:
    """The store of a server that starts now."""
    return store_of(database, await open_ring(database, master, AT))


async def put(store: SqlStore, handle: str, value: str = "value") -> None:
    async with store.transaction() as tx:
        await tx.secrets.put(handle, "ann-1", "envv_1", "TOKEN", value, AT)


async def values_of(store: SqlStore) -> list[str]:
    async with store.snapshot() as tx:
        return [value for _, value in (await tx.secrets.of_thread("ann-1")).values()]


async def rows_of(database: Database, table: Any) -> list[Any]:
    async with database.read() as connection:
        return list((await connection.execute(select(table))).all())


async def secrets_keys(database: Database) -> list[str]:
    return sorted(row.id for row in await rows_of(database, server_keys) if row.purpose == "secrets")
