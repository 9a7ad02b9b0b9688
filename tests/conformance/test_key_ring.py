"""The server's own keys: made once, sealed under the master key, and rotated while others work."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, text, update

from interlock.domain.errors import InvalidInput, StorageUnavailable, Unreadable
from interlock.master_key import GivenKey
from interlock.ports.access import EVERYBODY
from interlock.storage.access import SqlAccess
from interlock.storage.audit import SqlAudit, chain_hash
from interlock.storage.database import Database
from interlock.storage.key_ring import RingTokenKeys, open_ring, row_of
from interlock.storage.key_rotation import RotationReport, rotate
from interlock.storage.schema import audit, saved_secrets, secrets, server_keys, webhooks
from interlock.storage.sealing import Sealer, UnknownKey, derive
from tests.conformance.examples import ANN, AT
from tests.conformance.keys import (
    KeptKey,
    another,
    put,
    rotated_apart,
    rows_of,
    secrets_keys,
    started,
    store_of,
    values_of,
)
from tests.conftest import MASTER_KEY

OLD = "an old key of an operator"
NEW = "a new key of an operator"
BEFORE_THE_RING = bytes.fromhex(
    "010ee020b683ec9f3dc98865ecf770328bacecee02272e48212f970ae8a4486f0cf50f2c02e79b52ff4e124b5ffd623c23d60123f195104d66"
    "39dc8e2d542583867856ae49d6637a2005e4a43209d4a42b7038ff63a71ed389db047bd761abcf5f628cdf4a86b01db0a42d77707df4ad5c20"
    "a73b32b618"
)
"""As the first version sealed it, under the key that it derived of `MASTER_KEY` and in the context "h1"."""

on_postgres = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)


@pytest.fixture
def kept(tmp_path: Path) -> KeptKey:
    key = KeptKey(tmp_path / "secret.key")
    key.write(MASTER_KEY)
    return key


async def test_the_first_keys_are_those_that_a_database_without_a_ring_was_used_with(
    database: Database, kept: KeptKey
) -> None:
    async with database.write() as connection:
        await SqlAudit(connection, derive(MASTER_KEY, "audit")).append("ann-1", ANN, "request.answered", {}, AT)
    ring = await open_ring(database, kept.master, AT)
    assert ring.audit == derive(MASTER_KEY, "audit")
    assert ring.open(BEFORE_THE_RING, context="h1") == "sealed before there was a ring"
    made = [*ring.tokens.values(), ring.replies]
    assert not {*made} & {ring.audit, MASTER_KEY, *(derive(MASTER_KEY, name) for name in ("tokens", "replies"))}


async def test_the_key_of_a_trail_that_begins_is_random(database: Database, kept: KeptKey) -> None:
    audit = (await open_ring(database, kept.master, AT)).audit
    assert audit not in (derive(MASTER_KEY, "audit"), MASTER_KEY)
    assert (await open_ring(database, kept.master, AT)).audit == audit


async def test_the_key_of_tokens_that_an_earlier_version_derived_is_replaced_at_the_first_start(
    database: Database, kept: KeptKey
) -> None:
    await open_ring(database, kept.master, AT)
    derived = derive(MASTER_KEY, "tokens")
    async with database.write() as connection:
        await connection.execute(delete(server_keys).where(server_keys.c.purpose == "tokens"))
        await connection.execute(insert(server_keys), row_of(MASTER_KEY, "tokens", 1, derived, AT))
    ring = await open_ring(database, kept.master, AT)
    assert list(ring.tokens) == [2]
    assert derived not in ring.tokens.values()
    assert (await open_ring(database, kept.master, AT)).tokens == ring.tokens


async def test_a_running_server_signs_with_the_newest_key_and_reads_what_others_sign(
    database: Database, database_url: str, kept: KeptKey
) -> None:
    keys = RingTokenKeys(database, await open_ring(database, kept.master, AT))
    first = await keys.newest()
    await rotated_apart(database_url, kept.master)
    async with another(database_url) as elsewhere:
        second = await RingTokenKeys(elsewhere, await open_ring(elsewhere, kept.master, AT)).newest()
    assert second != first
    assert await keys.get(second[0]) == second[1]
    assert await keys.newest() == second
    assert await keys.get(first[0]) is None
    assert await keys.get(second[0] + 1) is None
    async with database.read() as connection:
        assert await SqlAccess(connection).list_changed_since(0) == {EVERYBODY}


async def test_a_server_with_the_operators_old_key_says_why_nobody_can_sign_in(database: Database) -> None:
    keys = RingTokenKeys(database, await open_ring(database, GivenKey(OLD), AT))
    await rotate(database, GivenKey(OLD, NEW), AT)
    with pytest.raises(StorageUnavailable, match="the new one"):
        await keys.newest()


async def test_the_keys_are_the_same_at_the_next_start(database: Database, kept: KeptKey) -> None:
    first = await open_ring(database, kept.master, AT)
    sealed = first.seal("text", context="h")
    second = await open_ring(database, kept.master, AT)
    assert (second.audit, second.tokens, second.replies) == (first.audit, first.tokens, first.replies)
    assert second.open(sealed, context="h") == "text"


async def test_no_key_is_in_clear_in_the_table(database: Database, kept: KeptKey) -> None:
    ring = await open_ring(database, kept.master, AT)
    rows = await rows_of(database, server_keys)
    assert sorted(row.purpose for row in rows) == ["audit", "replies", "secrets", "tokens"]
    for key in (MASTER_KEY, ring.audit, *ring.tokens.values(), ring.replies, derive(MASTER_KEY, "secrets")):
        assert not any(key in row.sealed for row in rows)


async def test_servers_that_start_at_the_same_moment_have_the_same_keys(database_url: str, tmp_path: Path) -> None:
    kept = KeptKey(tmp_path / "new" / "secret.key")

    async def start() -> bytes:
        async with another(database_url) as database:
            return (await open_ring(database, kept.master, AT)).replies

    assert len(set(await asyncio.gather(*(start() for _ in range(6))))) == 1
    assert kept.mode == 0o600


async def test_another_master_key_is_refused_and_changes_nothing(database: Database, kept: KeptKey) -> None:
    await open_ring(database, kept.master, AT)
    rows = await rows_of(database, server_keys)
    kept.write(bytes(32))
    for master in (kept.master, GivenKey(OLD)):
        with pytest.raises(InvalidInput):
            await open_ring(database, master, AT)
        with pytest.raises(InvalidInput):
            await rotate(database, master, AT)
    assert await rows_of(database, server_keys) == rows


async def test_a_lost_key_is_not_replaced_by_a_new_one(database: Database, kept: KeptKey) -> None:
    await open_ring(database, kept.master, AT)
    kept.lose()
    with pytest.raises(InvalidInput):
        await open_ring(database, kept.master, AT)
    assert kept.read() is None


async def test_a_database_without_a_ring_that_was_used_with_another_key_is_refused(
    database: Database, kept: KeptKey
) -> None:
    async with database.write() as connection:
        trail = SqlAudit(connection, derive(bytes(32), "audit"))
        await trail.append("ann-1", ANN, "request.answered", {}, AT)
    with pytest.raises(InvalidInput):
        await open_ring(database, kept.master, AT)
    kept.lose()
    with pytest.raises(InvalidInput):
        await open_ring(database, kept.master, AT)
    assert await rows_of(database, server_keys) == []
    kept.write(bytes(32))
    assert (await open_ring(database, kept.master, AT)).audit == derive(bytes(32), "audit")


async def test_a_key_that_was_moved_or_removed_in_the_table_stops_the_start(database: Database, kept: KeptKey) -> None:
    await open_ring(database, kept.master, AT)
    sealed = {row.purpose: row.sealed for row in await rows_of(database, server_keys)}
    tokens = server_keys.c.purpose == "tokens"
    async with database.write() as connection:
        await connection.execute(update(server_keys).where(tokens).values(sealed=sealed["audit"]))
    with pytest.raises(InvalidInput):
        await open_ring(database, kept.master, AT)
    async with database.write() as connection:
        await connection.execute(delete(server_keys).where(tokens))
    with pytest.raises(InvalidInput):
        await open_ring(database, kept.master, AT)


async def test_a_rotation_keeps_every_value_and_every_other_key(database: Database, kept: KeptKey) -> None:
    before = await open_ring(database, kept.master, AT)
    store = store_of(database, before)
    await put(store, "h0", "first")
    async with database.write() as connection:
        await connection.execute(
            insert(secrets), [_secret("h1", BEFORE_THE_RING), _secret("h2", before.seal("x", context="h2"))]
        )
        await connection.execute(insert(saved_secrets), _saved("s1", before.seal("saved", context="saved:s1")))
        await connection.execute(insert(webhooks), _webhook("w1", before.seal("signing", context="webhook:w1")))

    assert await rotate(database, kept.master, AT) == RotationReport(values=5, unreadable=0)

    assert kept.read() != MASTER_KEY
    assert kept.mode == 0o600
    after = await open_ring(database, kept.master, AT)
    assert (after.audit, after.replies) == (before.audit, before.replies)
    assert max(after.tokens) > max(before.tokens)
    assert not {*after.tokens.values()} & {*before.tokens.values()}
    opened = [after.open(row.sealed, context=row.handle) for row in await rows_of(database, secrets)]
    assert sorted(opened) == ["first", "sealed before there was a ring", "x"]
    assert after.open((await rows_of(database, saved_secrets))[0].sealed, context="saved:s1") == "saved"
    assert after.open((await rows_of(database, webhooks))[0].sealed, context="webhook:w1") == "signing"


def _secret(handle: str, sealed: bytes) -> dict[str, Any]:
    number = int(handle.removeprefix("h")) + 1
    who = {"thread_id": "ann-1", "request_id": "envv_1", "name": "TOKEN"}
    return {"handle": handle, "number": number, "sealed": sealed, "created_at": AT, **who}


def _saved(secret_id: str, sealed: bytes) -> dict[str, Any]:
    who = {"owner_id": "u-ann", "agent": "demo", "name": "TOKEN", "request_id": "envv_1", "by_name": "ann"}
    return {"id": secret_id, "sensitive": True, "sealed": sealed, "created_at": AT, "updated_at": AT, **who}


def _webhook(webhook_id: str, sealed: bytes) -> dict[str, Any]:
    what: dict[str, Any] = {"url": "https://hooks.example.org", "events": [], "agents": [], "created_by": "u-ann"}
    return {"id": webhook_id, "sealed": sealed, "created_at": AT, **what}


async def test_what_was_copied_before_a_rotation_opens_nothing_of_after_it(database: Database, kept: KeptKey) -> None:
    ring = await open_ring(database, kept.master, AT)
    store = store_of(database, ring)
    await put(store, "h0")
    await rotate(database, kept.master, AT)
    row = (await rows_of(database, secrets))[0]
    with pytest.raises(Unreadable):
        Sealer(derive(MASTER_KEY, "secrets")).open(row.sealed, context="h0")
    kept.write(MASTER_KEY)
    with pytest.raises(InvalidInput):
        await open_ring(database, kept.master, AT)


async def test_a_rotation_is_in_the_servers_audit_trail(database: Database, kept: KeptKey) -> None:
    ring = await open_ring(database, kept.master, AT)
    await put(store_of(database, ring), "h0")
    await rotate(database, kept.master, AT)
    async with database.read() as connection:
        row = (await connection.execute(select(audit))).mappings().one()
    assert (row["thread_id"], row["actor_id"], row["action"]) == ("server", "system", "secrets.rotated")
    assert row["data"] == {"key": 2, "values": 1, "unreadable": 0}
    assert row["hash"] == chain_hash(ring.audit, "", {name: value for name, value in row.items() if name != "hash"})


async def test_a_running_server_goes_on_after_rotations(database: Database, database_url: str, kept: KeptKey) -> None:
    store = await started(database, kept.master)
    await put(store, "h0", "before")
    await rotated_apart(database_url, kept.master)
    assert await values_of(store) == ["before"]
    await put(store, "h1", "between")
    await rotated_apart(database_url, kept.master)
    await rotated_apart(database_url, kept.master)
    await put(store, "h2", "after")
    assert await values_of(store) == ["before", "between", "after"]
    fresh = await started(database, kept.master)
    assert await values_of(fresh) == ["before", "between", "after"]


async def test_what_a_server_seals_that_noticed_no_rotation_opens_after_the_next_one(
    database: Database, database_url: str, kept: KeptKey
) -> None:
    store = await started(database, kept.master)
    await rotated_apart(database_url, kept.master)
    await rotated_apart(database_url, kept.master)
    await put(store, "h0", "late")
    fresh = await started(database, kept.master)
    assert await values_of(fresh) == ["late"]


async def test_keys_that_nothing_uses_are_dropped_but_for_the_one_before(database: Database, kept: KeptKey) -> None:
    await put(await started(database, kept.master), "h0")
    for _ in range(3):
        await rotate(database, kept.master, AT)
    assert await secrets_keys(database) == ["00000003", "00000004"]


@on_postgres
async def test_a_key_that_an_open_transaction_seals_with_is_not_dropped(
    database: Database, database_url: str, kept: KeptKey
) -> None:
    store = await started(database, kept.master)
    async with store.transaction() as tx:
        await tx.secrets.put("h0", "ann-1", "envv_1", "TOKEN", "slow", AT)
        for _ in range(3):
            await rotated_apart(database_url, kept.master)
    assert await secrets_keys(database) == ["00000001", "00000003", "00000004"]
    fresh = await started(database, kept.master)
    assert await values_of(fresh) == ["slow"]
    await rotate(database, kept.master, AT)
    assert await secrets_keys(database) == ["00000004", "00000005"]
    assert await values_of(fresh) == ["slow"]


@on_postgres
async def test_a_value_that_is_replaced_during_a_rotation_stays_replaced(
    database: Database, database_url: str, kept: KeptKey
) -> None:
    ring = await open_ring(database, kept.master, AT)
    store = store_of(database, ring)
    await put(store, "h0", "old")
    async with database.write() as connection:
        await connection.execute(update(secrets).values(sealed=ring.seal("new", context="h0")))
        rotating = asyncio.create_task(rotated_apart(database_url, kept.master))
        await until_it_waits_for_a_lock(database)
    assert await rotating == RotationReport(values=1, unreadable=0)
    assert await values_of(store) == ["new"]


async def until_it_waits_for_a_lock(database: Database) -> None:
    waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    async with asyncio.timeout(60):
        while True:
            async with database.read() as connection:
                if await connection.scalar(waiting):
                    return


async def test_a_value_that_does_not_open_is_left_as_it_is_and_told(database: Database, kept: KeptKey) -> None:
    ring = await open_ring(database, kept.master, AT)
    broken = {"h1": Sealer(bytes(32)).seal("x", context="h1"), "h2": b"", "h3": b"\x07 what?"}
    async with database.write() as connection:
        await connection.execute(insert(secrets), [_secret(handle, sealed) for handle, sealed in broken.items()])
    await put(store_of(database, ring), "h0")
    assert await rotate(database, kept.master, AT) == RotationReport(values=1, unreadable=3)
    now = {row.handle: row.sealed for row in await rows_of(database, secrets)}
    assert {handle: now[handle] for handle in broken} == broken
    assert "00000001" in await secrets_keys(database)


async def test_a_key_of_the_operator_is_replaced_by_one_of_the_operator(database: Database) -> None:
    store = await started(database, GivenKey(OLD))
    await put(store, "h0", "first")
    assert await rotate(database, GivenKey(OLD, NEW), AT) == RotationReport(values=1, unreadable=0)
    with pytest.raises(InvalidInput):
        await open_ring(database, GivenKey(OLD), AT)
    fresh = await started(database, GivenKey(NEW))
    assert await values_of(fresh) == ["first"]
    assert await rotate(database, GivenKey(OLD, NEW), AT) is None
    assert await secrets_keys(database) == ["00000001", "00000002"]


async def test_a_server_with_the_operators_old_key_seals_until_the_next_rotation_but_opens_nothing_new(
    database: Database,
) -> None:
    store = await started(database, GivenKey(OLD))
    await put(store, "h0", "first")
    await rotate(database, GivenKey(OLD, NEW), AT)
    with pytest.raises(Unreadable):
        await values_of(store)
    await put(store, "h1", "second")
    fresh = await started(database, GivenKey(NEW))
    assert await values_of(fresh) == ["first", "second"]
    await rotate(database, GivenKey(NEW, OLD + "!"), AT)
    with pytest.raises(Unreadable):
        await put(store, "h2", "third")


@pytest.mark.parametrize("length", [32, 7, 0])
async def test_a_coming_key_that_was_never_used_is_removed(database: Database, kept: KeptKey, length: int) -> None:
    await open_ring(database, kept.master, AT)
    kept.write(MASTER_KEY, coming=bytes(length))
    await open_ring(database, kept.master, AT)
    assert not kept.coming.exists()
    assert kept.read() == MASTER_KEY


async def test_a_coming_key_that_counts_is_put_in_its_place_by_whoever_starts_next(
    database: Database, kept: KeptKey
) -> None:
    store = await started(database, kept.master)
    await put(store, "h0")
    await rotate(database, kept.master, AT)
    new = kept.read()
    # As it is between the commit and the renaming.
    kept.write(MASTER_KEY, coming=new)
    assert await values_of(store) == ["value"]
    assert kept.read() == MASTER_KEY
    await open_ring(database, kept.master, AT)
    assert kept.read() == new
    assert not kept.coming.exists()


def test_rewrapping_leaves_the_value_sealed_as_it_was() -> None:
    keys = {1: MASTER_KEY, 2: bytes(32)}
    sealed = Sealer(MASTER_KEY).seal("a value", context="h")
    rewrapped = Sealer(keys).rewrap(sealed, context="h")
    assert rewrapped != sealed
    assert rewrapped[-20:] == sealed[-20:]
    assert Sealer({2: bytes(32)}).open(rewrapped, context="h") == "a value"
    with pytest.raises(UnknownKey):
        Sealer(MASTER_KEY).open(rewrapped, context="h")
    with pytest.raises(Unreadable):
        Sealer(keys).rewrap(sealed, context="other")
