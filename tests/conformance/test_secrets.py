"""Secrets: sealed on their way into the database, and opened only in their own place, under the right key."""

from pathlib import Path

import pytest
from sqlalchemy import select, update

from interlock.domain.errors import InvalidInput, Unreadable
from interlock.ports.store import Store
from interlock.storage.database import Database
from interlock.storage.schema import secrets
from interlock.storage.sealing import Sealer, derive
from tests.conformance.examples import AT, after
from tests.conftest import MASTER_KEY

pytestmark = pytest.mark.promise("P13")

PLANTED = "planted-Zx81-日本"


async def test_the_values_of_a_thread_are_read_back_oldest_first(store: Store) -> None:
    async with store.transaction() as tx:
        # Names and times run the other way, as after a clock that stepped back.
        await tx.secrets.put("h3", "ann-1", "envv_1", "TOKEN", "old", after(2))
        await tx.secrets.put("h2", "ann-1", "envv_1", "USER", "", after(1))
        await tx.secrets.put("h1", "ann-1", "envv_2", "TOKEN", PLANTED + "\0\ud800", AT)
        await tx.secrets.put("h0", "ann-2", "envv_3", "TOKEN", "other", AT)
    async with store.snapshot() as tx:
        assert list((await tx.secrets.of_thread("ann-1")).items()) == [
            ("h3", ("TOKEN", "old")),
            ("h2", ("USER", "")),
            ("h1", ("TOKEN", PLANTED + "\0\ud800")),
        ]
        assert await tx.secrets.of_thread("ann-9") == {}


async def test_destroying_the_secrets_of_a_thread_keeps_those_of_others(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.secrets.put("h1", "ann-1", "envv_1", "TOKEN", "a", AT)
        await tx.secrets.put("h2", "ann-2", "envv_2", "TOKEN", "b", AT)
    async with store.transaction() as tx:
        await tx.secrets.destroy_of_thread("ann-1")
    async with store.snapshot() as tx:
        assert await tx.secrets.of_thread("ann-1") == {}
        assert await tx.secrets.of_thread("ann-2") == {"h2": ("TOKEN", "b")}


async def test_a_value_is_not_in_clear_in_the_table(store: Store, database: Database) -> None:
    async with store.transaction() as tx:
        await tx.secrets.put("h1", "ann-1", "envv_1", "TOKEN", PLANTED, AT)
    async with database.read() as connection:
        row = (await connection.execute(select(secrets))).one()
    assert PLANTED.encode() not in row.sealed
    assert PLANTED not in str(row)


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.iterdir()]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_value_is_in_no_file_of_the_data_folder(store: Store, database: Database, tmp_path: Path) -> None:
    async with store.transaction() as tx:
        await tx.secrets.put("h1", "ann-1", "envv_1", "TOKEN", PLANTED, AT)
    during = contents(tmp_path)
    await database.close()
    afterwards = contents(tmp_path)
    assert any(b"envv_1" in content for content in during)
    assert any(b"envv_1" in content for content in afterwards)
    assert not any(PLANTED.encode() in content for content in during + afterwards)


async def test_a_sealed_value_that_was_moved_to_another_handle_does_not_open(store: Store, database: Database) -> None:
    async with store.transaction() as tx:
        await tx.secrets.put("h1", "ann-1", "envv_1", "TOKEN", "a", AT)
    async with database.write() as connection:
        await connection.execute(update(secrets).values(handle="h2"))
    async with store.snapshot() as tx:
        with pytest.raises(Unreadable):
            await tx.secrets.of_thread("ann-1")


def test_the_same_text_is_sealed_differently_each_time() -> None:
    sealer = Sealer(MASTER_KEY)
    first, second = sealer.seal("text", context="h"), sealer.seal("text", context="h")
    assert first != second
    assert sealer.open(first, context="h") == sealer.open(second, context="h") == "text"


def test_nothing_opens_under_another_key_or_after_any_byte_was_changed() -> None:
    sealed = Sealer(MASTER_KEY).seal("text", context="h")
    with pytest.raises(Unreadable):
        Sealer(bytes(32)).open(sealed, context="h")
    for index in range(len(sealed)):
        changed = sealed[:index] + bytes([sealed[index] ^ 1]) + sealed[index + 1 :]
        with pytest.raises(Unreadable):
            Sealer(MASTER_KEY).open(changed, context="h")
    for length in range(len(sealed)):
        with pytest.raises(Unreadable):
            Sealer(MASTER_KEY).open(sealed[:length], context="h")


def test_a_master_key_of_another_length_is_refused() -> None:
    with pytest.raises(InvalidInput):
        Sealer(b"short")


def test_each_purpose_has_a_key_of_its_own_that_is_always_the_same() -> None:
    keys = {derive(MASTER_KEY, purpose) for purpose in ("audit", "tokens")} | {MASTER_KEY}
    assert len(keys) == 3
    assert derive(MASTER_KEY, "audit") == derive(MASTER_KEY, "audit")
    assert derive(bytes(32), "audit") not in keys
