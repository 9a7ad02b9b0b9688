"""The audit trail: each entry's hash covers the one before, under a key that the database does not hold."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Executable, bindparam, exists, func, insert, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.audit import AuditEntry, AuditHead, ChainKey
from interlock.domain.canonical import plain
from interlock.domain.principal import Principal
from interlock.storage._audit_reading import AuditReading, head_of
from interlock.storage._repository import insert_for
from interlock.storage.schema import audit, audit_heads, storable

MADE_AT_ONCE = 1_000

# A thread's chain is its lock's affair, but many write to the server's own at once. SQLite has one writer at a time.
_HEAD = select(audit_heads).where(audit_heads.c.thread_id == bindparam("thread_id")).with_for_update()
_MOVE_HEAD = (
    update(audit_heads)
    .where(audit_heads.c.thread_id == bindparam("of_thread"))
    .values(number=bindparam("new_number"), hash=bindparam("new_hash"), mac=bindparam("new_mac"))
)
_LAST = (
    select(audit.c.number, audit.c.hash)
    .where(audit.c.thread_id == bindparam("thread_id"))
    .order_by(audit.c.number.desc())
    .limit(literal_column("1"))
)
_HAS_HEAD = exists().where(audit_heads.c.thread_id == audit.c.thread_id)
_HEADLESS = (
    select(audit.c.thread_id, func.max(audit.c.number).label("number"))
    .where(~_HAS_HEAD)
    .group_by(audit.c.thread_id)
    .limit(MADE_AT_ONCE)
)


@cache
def _add(*, is_postgres: bool) -> Executable:
    return insert_for(audit, is_postgres=is_postgres).on_conflict_do_nothing()


@cache
def _add_head(*, is_postgres: bool) -> Executable:
    return insert_for(audit_heads, is_postgres=is_postgres).on_conflict_do_nothing()


class SqlAudit(AuditReading):
    def __init__(self, connection: AsyncConnection, key: bytes) -> None:
        super().__init__(connection)
        self._key = ChainKey(key)

    @property
    def key(self) -> ChainKey:
        return self._key

    async def append(
        self, thread_id: str, actor: Principal, action: str, data: Mapping[str, Any], at: datetime
    ) -> None:
        entry = _entry(thread_id, actor, action, data, at)
        while not await self._append(entry):
            pass

    async def append_all(
        self, thread_id: str, actor: Principal, entries: Sequence[tuple[str, Mapping[str, Any]]], at: datetime
    ) -> None:
        if not entries:
            return
        head = await self._lock_head(storable(thread_id))
        last = (await self._connection.execute(_LAST, {"thread_id": storable(thread_id)})).one_or_none()
        if head is None or last is None or last.number != head.number or not self._key.is_authentic(head):
            for action, data in entries:
                await self.append(thread_id, actor, action, data, at)
            return
        rows: list[dict[str, Any]] = []
        for action, data in entries:
            entry = _entry(thread_id, actor, action, data, at)
            rows.append(self._row(entry, head.number + 1, head.hash))
            head = self._head(entry.chain, head.number + 1, rows[-1]["hash"])
        await self._connection.execute(insert(audit), rows)
        await self._move(head)

    async def _append(self, entry: AuditEntry) -> bool:
        """False when somebody else took the number a moment before."""
        head = await self._lock_head(entry.chain)
        # A head that is not ours is not moved: it would be ours from then on.
        if head is not None and self._key.is_authentic(head):
            added = await self._add(entry, head.number, head.hash)
            if added is not None:
                await self._move(added)
                return True
        last = (await self._connection.execute(_LAST, {"thread_id": entry.chain})).one_or_none()
        if last is not None:
            if head is None and await self._lock_head(entry.chain) is not None:
                # The chain was begun between the first look and the second.
                return False
            return await self._add(entry, last.number, str(last.hash)) is not None
        if head is None and not await self._begin(entry):
            return False
        return await self._add(entry, 0, "") is not None

    async def _lock_head(self, chain: str) -> AuditHead | None:
        row = (await self._connection.execute(_HEAD, {"thread_id": chain})).one_or_none()
        return None if row is None else head_of(row)

    async def _add(self, entry: AuditEntry, last_number: int, last_hash: str) -> AuditHead | None:
        """Add it after the last one, and give the head that the chain has then; None when the number is taken."""
        row = self._row(entry, last_number + 1, last_hash)
        added = await self._changed(_add(is_postgres=self._is_postgres), row)
        return self._head(entry.chain, row["number"], row["hash"]) if added else None

    def _row(self, entry: AuditEntry, number: int, last_hash: str) -> dict[str, Any]:
        return {
            "thread_id": entry.chain,
            "number": number,
            "at": entry.at,
            "actor_id": entry.actor_id,
            "actor_name": entry.actor_name,
            "action": entry.action,
            "data": entry.data,
            "hash": self._key.entry_hash(last_hash, entry, number),
        }

    async def _begin(self, entry: AuditEntry) -> bool:
        """Make the chain's first head, before its first entry: whoever else begins it waits here."""
        head = self._head(entry.chain, 1, self._key.entry_hash("", entry, 1))
        return await self._changed(_add_head(is_postgres=self._is_postgres), _values(head))

    async def _move(self, head: AuditHead) -> None:
        values = {f"new_{name}": value for name, value in _values(head).items() if name != "thread_id"}
        await self._connection.execute(_MOVE_HEAD, {"of_thread": head.chain, **values})

    def _head(self, chain: str, number: int, last_hash: str) -> AuditHead:
        return AuditHead(chain, number, last_hash, self._key.head_mac(chain, number, last_hash))

    async def make_heads(self) -> int:
        count = 0
        while chains := (await self._connection.execute(_HEADLESS)).all():
            for chain in chains:
                last = (await self._connection.execute(_LAST, {"thread_id": chain.thread_id})).one_or_none()
                assert last is not None
                head = self._head(chain.thread_id, last.number, str(last.hash))
                await self._connection.execute(_add_head(is_postgres=self._is_postgres), _values(head))
            count += len(chains)
        return count


def _entry(thread_id: str, actor: Principal, action: str, data: Mapping[str, Any], at: datetime) -> AuditEntry:
    words = (storable(actor.id), storable(actor.name), storable(action))
    return AuditEntry(storable(thread_id), 0, at, *words, plain(dict(data)))


def _values(head: AuditHead) -> dict[str, Any]:
    return {"thread_id": head.chain, "number": head.number, "hash": head.hash, "mac": head.mac}


def chain_hash(key: bytes, previous: str, entry: Mapping[str, Any]) -> str:
    """The hash of an entry, given as its row without the hash, after an entry with the hash `previous`."""
    rest = {name: value for name, value in entry.items() if name != "thread_id"}
    return ChainKey(key).entry_hash(previous, AuditEntry(chain=entry["thread_id"], **rest))
