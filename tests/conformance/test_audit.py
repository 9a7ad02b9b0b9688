"""The audit trail: what was recorded, and that the chain shows every change made behind our back."""

from typing import Any

import pytest
from sqlalchemy import delete, select, update

from interlock.ports.store import Store
from interlock.storage.audit import chained
from interlock.storage.database import Database
from interlock.storage.schema import audit
from interlock.storage.sealing import derive
from tests.conformance.examples import ANN, AT, after, begin
from tests.conftest import MASTER_KEY

KEY = derive(MASTER_KEY, "audit")


async def rows_of(database: Database, thread_id: str = "ann-1") -> list[dict[str, Any]]:
    async with database.read() as connection:
        found = await connection.execute(select(audit).where(audit.c.thread_id == thread_id).order_by(audit.c.number))
        return [dict(row._mapping) for row in found]  # pyright: ignore[reportPrivateUsage]


def holds(rows: list[dict[str, Any]], key: bytes = KEY) -> bool:
    previous = ""
    for number, row in enumerate(rows, start=1):
        entry = {name: value for name, value in row.items() if name != "hash"}
        if row["number"] != number or row["hash"] != chained(key, previous, entry):
            return False
        previous = row["hash"]
    return True


async def record(store: Store, count: int = 3, thread_id: str = "ann-1") -> None:
    async with store.transaction() as tx:
        await begin(tx, thread_id)
    for number in range(count):
        async with store.transaction() as tx:
            data = {"n": number, "text": "\0 \ud800 日本", "list": (1, 2.5)}
            await tx.audit.append(thread_id, ANN, "request.answered", data, after(number))


async def test_entries_are_numbered_from_one_and_chained(store: Store, database: Database) -> None:
    await record(store)
    rows = await rows_of(database)
    assert [row["number"] for row in rows] == [1, 2, 3]
    assert rows[1]["actor_name"] == "ann"
    assert rows[1]["data"] == {"n": 1, "text": "\0 \ud800 日本", "list": [1, 2.5]}
    assert rows[1]["at"] == after(1)
    assert holds(rows)


async def test_each_thread_has_a_chain_of_its_own(store: Store, database: Database) -> None:
    await record(store)
    await record(store, thread_id="ann-2")
    assert [row["number"] for row in await rows_of(database, "ann-2")] == [1, 2, 3]
    assert holds(await rows_of(database, "ann-2"))


async def test_the_chain_holds_under_its_own_key_only(store: Store, database: Database) -> None:
    await record(store)
    assert not holds(await rows_of(database), derive(MASTER_KEY, "something else"))


async def test_a_changed_entry_breaks_the_chain(store: Store, database: Database) -> None:
    await record(store)
    forged: list[dict[str, Any]] = [{"actor_id": "u-bob"}, {"data": {}}, {"at": AT}, {"action": "x"}]
    for changes in forged:
        async with database.write() as connection:
            before = (await connection.execute(select(audit).where(audit.c.number == 2))).one()
            await connection.execute(update(audit).where(audit.c.number == 2).values(**changes))
        assert not holds(await rows_of(database))
        restored = {name: getattr(before, name) for name in changes}
        async with database.write() as connection:
            await connection.execute(update(audit).where(audit.c.number == 2).values(**restored))
        assert holds(await rows_of(database))


async def test_a_removed_entry_breaks_the_chain(store: Store, database: Database) -> None:
    await record(store)
    async with database.write() as connection:
        await connection.execute(delete(audit).where(audit.c.number == 2))
        await connection.execute(update(audit).where(audit.c.number == 3).values(number=2))
    assert not holds(await rows_of(database))


async def test_an_entry_of_a_transaction_that_failed_is_not_in_the_chain(store: Store, database: Database) -> None:
    await record(store, count=1)

    async def record_and_fail() -> None:
        async with store.transaction() as tx:
            await tx.audit.append("ann-1", ANN, "request.answered", {}, AT)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await record_and_fail()
    async with store.transaction() as tx:
        await tx.audit.append("ann-1", ANN, "request.cancelled", {}, AT)
    rows = await rows_of(database)
    assert [row["action"] for row in rows] == ["request.answered", "request.cancelled"]
    assert holds(rows)
