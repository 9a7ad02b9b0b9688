"""A new master key, a new key for everything that is sealed, and one for people's tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Column, Table, bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock import failpoints
from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.errors import Unreadable
from interlock.domain.principal import SYSTEM
from interlock.storage.audit import SqlAudit
from interlock.storage.database import Database
from interlock.storage.key_ring import (
    SECRETS,
    MasterKey,
    OpenKeyRing,
    key_id,
    load,
    lock,
    open_ring,
    random_key,
    renew_tokens,
    row_of,
)
from interlock.storage.schema import channels, saved_secrets, secrets, server_keys, webhooks
from interlock.storage.sealing import FIRST, Sealer, wrapping_key

_SEALED: Sequence[tuple[Table, Column[str], str]] = (
    (secrets, secrets.c.handle, ""),
    (saved_secrets, saved_secrets.c.id, "saved:"),
    (webhooks, webhooks.c.id, "webhook:"),
    (channels, channels.c.id, "channel:"),
)
"""Each table with sealed values, what a value is known by, and what stands before that in its context."""


@dataclass(frozen=True, slots=True)
class RotationReport:
    values: int
    """How many are under the new key."""
    unreadable: int
    """How many could not be opened before either, and were left as they are."""


async def rotate(database: Database, master: MasterKey, at: datetime) -> RotationReport | None:
    """Put the coming master key in the place of the present one; None when that was done already.

    It may end anywhere: whoever opens the ring next, with either master key at hand, finds the one that counts.
    """
    async with database.write() as connection:
        await lock(connection)
        before = await load(connection, master, at)
        new = master.prepare()
        failpoints.hit("rotation.prepared")
        report = None if new == before.master else await _rotate(connection, before, new, at)
        failpoints.hit("rotation.committing")
    failpoints.hit("rotation.committed")
    await open_ring(database, master, at)
    return report


async def _rotate(connection: AsyncConnection, before: OpenKeyRing, master: bytes, at: datetime) -> RotationReport:
    last = max(before.secrets)
    droppable = await _retirable_keys(connection, last)
    for (purpose, number), key in (await renew_tokens(connection, before, at)).keys.items():
        row = row_of(master, purpose, number, key, at)
        same = (server_keys.c.purpose == purpose, server_keys.c.id == row["id"])
        await connection.execute(update(server_keys).where(*same).values(sealed=row["sealed"]))
    key = random_key()
    await connection.execute(insert(server_keys), row_of(master, SECRETS, last + 1, key, at))
    sealer = Sealer({**before.secrets, last + 1: key})
    moved, left = 0, list[int]()
    for table, name, prefix in _SEALED:
        count, still = await _rewrap(connection, sealer, table, name, prefix)
        moved, left = moved + count, left + still
    dropped = droppable - {key_id(number) for number in left}
    await connection.execute(delete(server_keys).where(server_keys.c.purpose == SECRETS, server_keys.c.id.in_(dropped)))
    report = RotationReport(moved, len(left))
    record = {"key": last + 1, "values": report.values, "unreadable": report.unreadable}
    await SqlAudit(connection, before.keys["audit", FIRST]).append(SERVER_CHAIN, SYSTEM, "secrets.rotated", record, at)
    return report


async def _retirable_keys(connection: AsyncConnection, last: int) -> set[str]:
    """The keys before the last one that no open transaction seals with, and none can from now on."""
    older = select(server_keys.c.id).where(server_keys.c.purpose == SECRETS, server_keys.c.id != key_id(last))
    found = await connection.execute(older.with_for_update(skip_locked=True))
    return {row.id for row in found.all()}


async def _rewrap(
    connection: AsyncConnection, sealer: Sealer, table: Table, name: Column[str], prefix: str
) -> tuple[int, list[int]]:
    """How many values of a table are under the newest key now, and the keys named by those that do not open."""
    changes: list[dict[str, object]] = []
    left: list[int] = []
    # Locked as they are read: a value that somebody replaces meanwhile must not come back.
    for row in (await connection.execute(select(name.label("name"), table.c.sealed).with_for_update())).all():
        try:
            changes.append({"of": row.name, "rewrapped": sealer.rewrap(bytes(row.sealed), context=prefix + row.name)})
        except Unreadable:
            left.append(_number_of_key(bytes(row.sealed)))
    if changes:
        changed = update(table).where(name == bindparam("of")).values(sealed=bindparam("rewrapped"))
        await connection.execute(changed, changes)
    return len(changes), left


def _number_of_key(blob: bytes) -> int:
    try:
        return wrapping_key(blob)[0]
    except Unreadable:
        return FIRST
