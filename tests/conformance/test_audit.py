"""The audit trail: what was recorded, how chains and their heads are kept, and who is in whose way."""

import asyncio
from typing import Any

import pytest

from interlock.domain.audit import HEADS_MADE, SERVER_CHAIN, AuditHead, ChainKey
from interlock.domain.principal import SYSTEM
from interlock.ports.store import Store
from interlock.services.audit.trail import make_heads
from interlock.storage.audit import chain_hash
from interlock.storage.database import Database, open_database
from interlock.storage.sealing import Sealer, derive
from interlock.storage.store import SqlStore
from tests.conformance.examples import ANN, AT, after
from tests.conformance.trails import Intruder, found, record
from tests.conftest import MASTER_KEY

pytestmark = pytest.mark.promise("P15")

KEY = derive(MASTER_KEY, "audit")


def holds(rows: list[dict[str, Any]], key: bytes = KEY) -> bool:
    previous = ""
    for number, row in enumerate(rows, start=1):
        entry = {name: value for name, value in row.items() if name != "hash"}
        if row["number"] != number or row["hash"] != chain_hash(key, previous, entry):
            return False
        previous = row["hash"]
    return True


async def append(store: Store, thread_id: str = "ann-1", action: str = "effect.done") -> None:
    async with store.transaction() as tx:
        await tx.audit.append(thread_id, ANN, action, {}, AT)


async def test_entries_are_numbered_from_one_and_chained(store: Store, database: Database) -> None:
    await record(store)
    rows = await Intruder(database).rows()
    assert [row["number"] for row in rows] == [1, 2, 3]
    assert rows[1]["actor_name"] == "ann"
    assert rows[1]["data"] == {"n": 1, "text": "\0 \ud800 日本", "list": [1, 2.5]}
    assert rows[1]["at"] == after(1)
    assert holds(rows)


async def test_each_thread_has_a_chain_of_its_own(store: Store, database: Database) -> None:
    await record(store)
    await record(store, thread_id="ann-2")
    rows = await Intruder(database, "ann-2").rows()
    assert [row["number"] for row in rows] == [1, 2, 3]
    assert holds(rows)


async def test_the_chain_holds_under_its_own_key_only(store: Store, database: Database) -> None:
    await record(store)
    assert not holds(await Intruder(database).rows(), derive(MASTER_KEY, "something else"))


async def test_the_head_is_that_of_the_last_entry_and_authentic(store: Store, database: Database) -> None:
    for count in (1, 2, 3):
        await (record(store, 1) if count == 1 else append(store))
        head, last = await Intruder(database).head(), (await Intruder(database).rows())[-1]
        assert (head["number"], head["hash"]) == (count, last["hash"])
        assert ChainKey(KEY).is_authentic(AuditHead("ann-1", count, head["hash"], head["mac"]))
        assert not ChainKey(KEY).is_authentic(AuditHead("ann-2", count, head["hash"], head["mac"]))


async def test_an_entry_of_a_transaction_that_failed_is_in_neither_chain_nor_head(
    store: Store, database: Database
) -> None:
    await record(store, count=1)

    async def record_and_fail() -> None:
        async with store.transaction() as tx:
            await tx.audit.append("ann-1", ANN, "request.answered", {}, AT)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await record_and_fail()
    await append(store, action="request.cancelled")
    rows = await Intruder(database).rows()
    assert [row["action"] for row in rows] == ["effect.done", "request.cancelled"]
    assert holds(rows)
    assert await found(store) == []


async def test_of_many_that_write_to_the_servers_chain_at_once_each_gets_a_number(
    store: Store, database: Database, database_url: str
) -> None:
    async def write(on: Store, number: int) -> None:
        for part in range(5):
            async with on.transaction() as tx:
                await tx.audit.append(SERVER_CHAIN, SYSTEM, "key.created", {"n": number, "part": part}, AT)
                await tx.audit.append(SERVER_CHAIN, SYSTEM, "key.revoked", {"n": number, "part": part}, AT)

    opened = open_database(database_url)
    other = SqlStore(opened, sealer=Sealer(MASTER_KEY), audit_key=KEY)
    async with asyncio.timeout(60):
        await asyncio.gather(*(write(on, number) for number in range(4) for on in (store, other)))
    await opened.close()
    rows = await Intruder(database, SERVER_CHAIN).rows()
    assert [row["number"] for row in rows] == list(range(1, 81))
    assert holds(rows)
    assert await found(store) == []


async def test_chains_of_before_there_were_heads_get_one_once(store: Store, database: Database) -> None:
    for name in ("ann-1", "ann-2"):
        await record(store, thread_id=name)
        await Intruder(database, name).remove_head()
    await make_heads(store, after(0))
    assert await found(store) == []
    (told,) = await Intruder(database, SERVER_CHAIN).rows()
    assert (told["action"], told["data"], told["actor_id"]) == (HEADS_MADE, {"count": 2}, SYSTEM.id)
    await append(store)
    assert await found(store) == []
    await Intruder(database, "ann-2").remove_head()
    await make_heads(store, after(1))
    assert await found(store) == [("no_head", "ann-2", None)]


async def test_a_new_database_says_that_there_was_nothing_to_make_heads_for(store: Store, database: Database) -> None:
    await make_heads(store, after(0))
    await make_heads(store, after(0))
    assert [row["data"] for row in await Intruder(database, SERVER_CHAIN).rows()] == [{"count": 0}]
    assert await found(store) == []


async def test_what_is_appended_later_does_not_cover_up_a_removed_head(store: Store, database: Database) -> None:
    await record(store, 5)
    intruder = Intruder(database)
    await intruder.delete(4, 5)
    await intruder.remove_head()
    await append(store)
    await append(store)
    assert await found(store) == [("no_head", "ann-1", None)]
    assert holds(await intruder.rows())


async def test_what_is_appended_later_does_not_cover_up_a_forged_head(store: Store, database: Database) -> None:
    await record(store, 5)
    intruder = Intruder(database)
    await intruder.delete(4, 5)
    await intruder.set_head(number=3, hash=(await intruder.rows())[-1]["hash"])
    await append(store)
    assert await found(store) == [("forged_head", "ann-1", None)]
    assert holds(await intruder.rows())


async def test_what_is_appended_later_does_not_cover_up_a_cut_tail(store: Store, database: Database) -> None:
    await record(store, 5)
    await Intruder(database).delete(4, 5)
    await append(store)
    assert await found(store) == [("missing", "ann-1", 4), ("unproven", "ann-1", 6)]


async def test_a_chain_goes_on_behind_a_head_of_before_and_that_is_found(store: Store, database: Database) -> None:
    await record(store, 3)
    intruder = Intruder(database)
    before = await intruder.head()
    await append(store)
    await intruder.set_head(**before)
    assert await found(store) == [("stale_head", "ann-1", 3)]
    await append(store)
    assert await found(store) == [("stale_head", "ann-1", 3)]
    assert holds(await intruder.rows())


async def test_a_key_shows_nothing_of_itself() -> None:
    assert repr(ChainKey(KEY)) == "ChainKey(***)"
