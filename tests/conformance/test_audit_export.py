"""Exports of the audit trail: they tell later whether the store was rolled back, and can be checked by themselves."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import insert

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.errors import InvalidInput, NotFound
from interlock.domain.principal import SYSTEM
from interlock.ports.store import Store
from interlock.services.audit.export import export, verify_export
from interlock.storage.database import Database
from interlock.storage.schema import audit, audit_heads
from interlock.storage.sealing import Sealer, derive
from interlock.storage.store import SqlStore
from tests.conformance.examples import ANN, AT
from tests.conformance.trails import Intruder, core_on, found, record
from tests.conftest import MASTER_KEY

CHAIN = "ann-1"


@pytest.fixture
async def intruder(store: Store, database: Database) -> Intruder:
    for name in ("ann-0", CHAIN):
        await record(store, 4, name)
    return Intruder(database, CHAIN)


async def exported(store: Store, thread_id: str | None = None) -> list[str]:
    return [line async for line in export(core_on(store), thread_id)]


async def found_in(store: Store, lines: list[str]) -> list[tuple[str, str, int | None]]:
    report = await verify_export(core_on(store), lambda: lines)
    return [(one.kind.value, one.chain, one.number) for one in report.findings]


async def append(store: Store, chain: str = CHAIN, action: str = "effect.done") -> None:
    async with store.transaction() as tx:
        await tx.audit.append(chain, ANN, action, {}, AT)


def edited(line: str, **changes: Any) -> str:
    return json.dumps(json.loads(line) | changes)


SPOILED: list[Callable[[list[str]], list[str]]] = [
    lambda lines: lines[:-1],
    lambda lines: [*lines[:-1], edited(lines[-1], entries=7)],
    lambda lines: [*lines[:-2], lines[-1]],
    lambda lines: [*lines[:-2], edited(lines[-2], number=3), lines[-1]],
    lambda lines: lines[1:],
    lambda lines: [*lines, "no json"],
    lambda lines: [*lines, "[]"],
    lambda lines: [*lines, '{"type": "else"}'],
    lambda lines: [*lines, edited(lines[0], number="1")],
    lambda lines: [*lines, edited(lines[0], at="yesterday")],
    lambda lines: [*lines, edited(lines[0], at="2026-11-15T12:00:00")],
    lambda lines: [*lines, edited(lines[0], chain=[])],
    lambda lines: [*lines, edited(lines[0], more=1)],
    lambda lines: [],
]


async def test_an_export_has_entries_then_heads_then_a_line_about_the_whole(store: Store, intruder: Intruder) -> None:
    async with store.transaction() as tx:
        await tx.audit.append(SERVER_CHAIN, SYSTEM, "key.created", {}, AT)
    lines = [json.loads(line) for line in await exported(store)]
    assert [line["type"] for line in lines] == ["entry"] * 9 + ["head"] * 3 + ["heads"]
    assert [(line["chain"], line["number"]) for line in lines[3:6]] == [("ann-0", 4), (CHAIN, 1), (CHAIN, 2)]
    assert [(line["chain"], line["number"]) for line in lines[9:12]] == [("ann-0", 4), (CHAIN, 4), (SERVER_CHAIN, 1)]
    assert (lines[-1]["entries"], lines[-1]["chains"], lines[-1]["conversation_id"]) == (9, 3, None)
    assert lines[4]["data"]["text"] == "\0 \ud800 日本"


async def test_an_export_is_intact_and_the_trail_goes_through_it(store: Store, intruder: Intruder) -> None:
    lines = await exported(store)
    report = await verify_export(core_on(store), lambda: lines)
    assert (report.chains, report.entries, report.findings) == (2, 8, [])
    assert await found(store, lines) == []
    await append(store)
    await append(store, "ann-9")
    assert await found(store, lines) == []


async def test_one_thread_can_be_exported_and_compared_with(store: Store, intruder: Intruder) -> None:
    lines = await exported(store, CHAIN)
    assert {json.loads(line).get("chain", CHAIN) for line in lines} == {CHAIN}
    assert json.loads(lines[-1])["conversation_id"] == CHAIN
    assert await found_in(store, lines) == []
    assert await found(store, lines) == []
    with pytest.raises(NotFound):
        await exported(store, "nobody-1")


async def test_a_chain_that_was_rolled_back_with_its_head_is_found_against_an_export(
    store: Store, intruder: Intruder
) -> None:
    earlier = await intruder.head()
    await append(store)
    await append(store)
    lines = await exported(store)
    await intruder.delete(5, 6)
    await intruder.set_head(**earlier)
    assert await found(store) == []
    assert await found(store, lines) == [("rolled_back", CHAIN, 6)]


async def test_a_chain_that_was_rolled_back_and_went_on_is_found_against_an_export(
    store: Store, intruder: Intruder
) -> None:
    earlier = await intruder.head()
    await append(store)
    lines = await exported(store)
    await intruder.delete(5)
    await intruder.set_head(**earlier)
    for _ in range(3):
        await append(store, action="effect.failed")
    assert await found(store) == []
    assert await found(store, lines) == [("rolled_back", CHAIN, 5)]


async def test_a_chain_that_is_gone_with_its_head_is_found_against_an_export(store: Store, intruder: Intruder) -> None:
    lines = await exported(store)
    await intruder.remove_chain()
    assert await found(store) == []
    assert await found(store, lines) == [("missing", CHAIN, None)]
    await append(store)
    assert await found(store, lines) == [("rolled_back", CHAIN, 4)]


async def test_what_is_found_without_an_export_is_not_told_twice(store: Store, intruder: Intruder) -> None:
    lines = await exported(store)
    await intruder.delete(3, 4)
    assert await found(store, lines) == [("cut_tail", CHAIN, 3)]


@pytest.mark.parametrize("spoil", SPOILED)
async def test_what_is_no_whole_export_is_not_compared_with(
    store: Store, intruder: Intruder, spoil: Callable[[list[str]], list[str]]
) -> None:
    lines = spoil(await exported(store))
    with pytest.raises(InvalidInput):
        await found(store, lines)


async def test_an_export_of_another_server_is_not_compared_with(
    store: Store, database: Database, intruder: Intruder
) -> None:
    other = SqlStore(database, sealer=Sealer(MASTER_KEY), audit_key=derive(MASTER_KEY, "another server"))
    with pytest.raises(InvalidInput):
        await found(store, await exported(other))


async def test_a_head_that_was_forged_before_it_was_exported_is_told(store: Store, intruder: Intruder) -> None:
    await intruder.set_head(mac="0" * 64)
    lines = await exported(store)
    async with intruder.database.write() as connection:
        for table in (audit, audit_heads):
            await connection.execute(table.delete().where(table.c.thread_id == CHAIN))
    assert await found(store, lines) == [("forged_head", CHAIN, None)]


async def test_an_export_by_itself_is_checked_as_the_trail_is(store: Store, intruder: Intruder) -> None:
    lines = await exported(store)
    second = lines[5]
    assert await found_in(store, [*lines[:5], edited(second, action="x"), *lines[6:]]) == [("edited", CHAIN, 2)]
    cut = ("forged_export", "", None)
    assert await found_in(store, [*lines[:5], *lines[6:]]) == [("missing", CHAIN, 2), ("unproven", CHAIN, 3), cut]
    assert await found_in(store, lines[:-1]) == [cut]
    assert await found_in(store, [*lines[:7], *lines[8:]]) == [("cut_tail", CHAIN, 4), cut]
    swapped = [*lines[:5], lines[6], lines[5], *lines[7:]]
    assert ("reordered", CHAIN, 2) in await found_in(store, swapped)
    assert await found_in(store, [*lines[:-2], lines[-1]]) == [("no_head", CHAIN, None), cut]
    with pytest.raises(InvalidInput):
        await found_in(store, [*lines, "no json"])


async def test_a_damaged_trail_is_exported_as_it_is(store: Store, intruder: Intruder) -> None:
    await intruder.edit(2, data={})
    await intruder.remove_head()
    async with intruder.database.write() as connection:
        await connection.execute(insert(audit_heads), {"thread_id": "lone", "number": 2, "hash": "x", "mac": "y"})
    told = [("edited", CHAIN, 2), ("no_head", CHAIN, None), ("forged_head", "lone", None)]
    assert await found(store) == told
    assert sorted(await found_in(store, await exported(store))) == sorted(told)
