"""What somebody who can write to the database does to the audit trail is found, and named exactly."""

import json
from typing import Any

import pytest
from sqlalchemy import delete, insert, text, update

from interlock.domain.audit_check import MAX_SUSPECTS
from interlock.domain.kinds import RequestKind
from interlock.ports.store import Store
from interlock.services.audit import trail as auditing
from interlock.services.threads.threads import delete_thread
from interlock.storage.database import Database
from interlock.storage.schema import answers, audit, audit_heads, threads
from tests.conformance.examples import ANN, AT, after
from tests.conformance.trails import Intruder, core_on, findings, found, record, settle_one

pytestmark = pytest.mark.promise("P15")

CHAIN = "ann-1"


@pytest.fixture
async def intruder(store: Store, database: Database) -> Intruder:
    """Three chains, of which the middle one is going to be tampered with."""
    for name, count in (("ann-0", 3), (CHAIN, 7), ("ann-2", 3)):
        await record(store, count, name)
    assert await found(store) == []
    return Intruder(database, CHAIN)


async def test_a_trail_that_nobody_touched_is_intact(store: Store, intruder: Intruder) -> None:
    report = await auditing.verify(core_on(store))
    assert (report.chains, report.entries, report.findings) == (3, 13, [])


async def test_no_trail_at_all_is_intact(store: Store) -> None:
    report = await auditing.verify(core_on(store))
    assert (report.chains, report.entries, report.findings) == (0, 0, [])


@pytest.mark.parametrize("number", [1, 4, 7])
@pytest.mark.parametrize(
    "changes",
    [
        {"actor_id": "u-bob"},
        {"actor_name": "bob"},
        {"action": "effect.failed"},
        {"data": {}},
        {"data": {"n": 4.0}},
        {"data": []},
        {"at": AT},
        {"hash": "0" * 64},
        {"hash": ""},
    ],
    ids=str,
)
async def test_an_edited_entry_is_named(store: Store, intruder: Intruder, number: int, changes: dict[str, Any]) -> None:
    if changes.get("at") == AT and number == 1:
        changes = {"at": after(99)}
    await intruder.edit(number, **changes)
    assert await found(store) == [("edited", CHAIN, number)]


async def test_behind_an_entry_whose_hash_was_edited_too_the_next_cannot_be_proven(
    store: Store, intruder: Intruder
) -> None:
    await intruder.edit(4, data={}, hash="0" * 64)
    assert await found(store) == [("edited", CHAIN, 4), ("unproven", CHAIN, 5)]


async def test_several_edited_entries_are_each_named(store: Store, intruder: Intruder) -> None:
    await intruder.edit(2, data={})
    await intruder.edit(4, hash="0" * 64)
    await intruder.edit(7, action="x")
    assert await found(store) == [("edited", CHAIN, number) for number in (2, 4, 7)]


async def test_what_is_no_json_and_no_moment_is_an_edited_entry(store: Store, intruder: Intruder) -> None:
    edits = [("data", "no json", 2), ("data", "[" * 100_000, 4), ("data", '{"a":' * 900 + "1" + "}" * 900, 6)]
    if not intruder.database.is_shared:
        edits += [("at", "yesterday", 3), ("hash", "", 7)]
    async with intruder.database.write() as connection:
        for column, value, number in edits:
            statement = f"UPDATE audit SET {column} = :value WHERE thread_id = '{CHAIN}' AND number = {number}"
            await connection.execute(text(statement), {"value": value})
    named = {(kind, number) for kind, _, number in await found(store)}
    assert named >= {("edited", 2)}
    assert {number for _, number in named} == {number for _, _, number in edits}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_number_that_is_none_is_a_missing_entry(store: Store, intruder: Intruder) -> None:
    async with intruder.database.write() as connection:
        where = f"WHERE thread_id = '{CHAIN}' AND number"
        await connection.execute(text(f"UPDATE audit SET number = 'seven' {where} = 7"))
        await connection.execute(text(f"UPDATE audit SET thread_id = x'00ff' {where} = 3"))
    assert await found(store) == [("missing", CHAIN, 3), ("unproven", CHAIN, 4), ("cut_tail", CHAIN, 7)]


@pytest.mark.parametrize(("first", "last"), [(1, 1), (4, 4), (2, 5)])
async def test_entries_deleted_in_the_middle_are_named(store: Store, intruder: Intruder, first: int, last: int) -> None:
    await intruder.delete(first, last)
    assert await found(store) == [("missing", CHAIN, first), ("unproven", CHAIN, last + 1)]


async def test_a_deleted_entry_whose_place_was_closed_is_named(store: Store, intruder: Intruder) -> None:
    await intruder.delete(3)
    await intruder.renumber(4, by=-1)
    assert await found(store) == [("missing", CHAIN, 3), ("reordered", CHAIN, 3)]


async def test_an_entry_that_was_put_in_between_is_named(store: Store, intruder: Intruder) -> None:
    await intruder.renumber(3, by=1)
    await intruder.add(3, data={"n": "forged"})
    assert await found(store) == [("added", CHAIN, 3), ("reordered", CHAIN, 4)]


async def test_entries_added_behind_the_end_are_named(store: Store, intruder: Intruder) -> None:
    await intruder.add(8)
    await intruder.add(9)
    await intruder.add(20)
    await intruder.add(0)
    assert await found(store) == [("added", CHAIN, number) for number in (0, 8, 9, 20)]


@pytest.mark.parametrize(("one", "other"), [(1, 2), (3, 4), (2, 6), (1, 7), (6, 7)])
async def test_two_swapped_entries_are_both_named(store: Store, intruder: Intruder, one: int, other: int) -> None:
    await intruder.swap(one, other)
    assert await found(store) == [("reordered", CHAIN, one), ("reordered", CHAIN, other)]
    first, second = await findings(store)
    assert str(other) in first.text
    assert str(one) in second.text


async def test_two_entries_that_swapped_all_but_their_hashes_are_both_named(store: Store, intruder: Intruder) -> None:
    rows = await intruder.rows()
    content = ("at", "actor_id", "actor_name", "action", "data")
    await intruder.edit(2, **{name: rows[4][name] for name in content})
    await intruder.edit(5, **{name: rows[1][name] for name in content})
    assert await found(store) == [("reordered", CHAIN, 2), ("reordered", CHAIN, 5)]


async def test_an_entry_that_was_moved_away_is_named_where_it_belongs(store: Store, intruder: Intruder) -> None:
    await intruder.edit(3, number=50)
    assert await found(store) == [("reordered", CHAIN, 3)]


@pytest.mark.parametrize("cut", [1, 3, 7])
async def test_a_cut_tail_is_named_by_its_first_entry(store: Store, intruder: Intruder, cut: int) -> None:
    await intruder.delete(8 - cut, 7)
    assert await found(store) == [("cut_tail", CHAIN, 8 - cut)]


async def test_a_removed_head_is_found(store: Store, intruder: Intruder) -> None:
    await intruder.remove_head()
    assert await found(store) == [("no_head", CHAIN, None)]


@pytest.mark.parametrize("changes", [{"number": 5}, {"hash": "0" * 64}, {"mac": "0" * 64}, {"mac": ""}], ids=str)
async def test_a_forged_head_is_found(store: Store, intruder: Intruder, changes: dict[str, Any]) -> None:
    await intruder.set_head(**changes)
    assert await found(store) == [("forged_head", CHAIN, None)]


async def test_the_head_of_another_chain_is_no_head(store: Store, intruder: Intruder) -> None:
    other = await Intruder(intruder.database, "ann-2").head()
    await intruder.set_head(number=other["number"], hash=other["hash"], mac=other["mac"])
    assert await found(store) == [("forged_head", CHAIN, None)]


async def test_a_head_of_another_history_is_found(store: Store, intruder: Intruder) -> None:
    head, last = await intruder.head(), (await intruder.rows())[-1]
    async with intruder.database.write() as connection:
        await connection.execute(delete(audit).where(audit.c.thread_id == CHAIN, audit.c.number == 7))
        await connection.execute(delete(audit_heads).where(audit_heads.c.thread_id == CHAIN))
    async with store.transaction() as tx:
        await tx.audit.append(CHAIN, ANN, "effect.failed", {}, AT)
    async with intruder.database.write() as connection:
        await connection.execute(insert(audit_heads), head)
    assert (await intruder.rows())[-1]["hash"] != last["hash"]
    assert await found(store) == [("unknown_head", CHAIN, 7)]


async def test_an_entry_taken_to_another_chain_is_missed_in_its_own_and_strange_in_the_other(
    store: Store, intruder: Intruder
) -> None:
    await intruder.edit(7, thread_id="ann-2", number=4)
    assert await found(store) == [("cut_tail", CHAIN, 7), ("added", "ann-2", 4)]


async def test_a_chain_that_is_broken_as_a_whole_is_told_in_few_lines(store: Store, intruder: Intruder) -> None:
    for number in range(MAX_SUSPECTS + 50):
        async with store.transaction() as tx:
            await tx.audit.append("ann-9", ANN, "effect.done", {"n": number}, AT)
    async with intruder.database.write() as connection:
        await connection.execute(update(audit).where(audit.c.thread_id == "ann-9").values(actor_id="u-bob"))
    told = await findings(store)
    assert {one.chain for one in told} == {"ann-9"}
    assert len(told) == MAX_SUSPECTS + 1
    assert "50" in told[-1].text


async def test_a_removed_chain_is_found_by_its_answers(store: Store, intruder: Intruder) -> None:
    await settle_one(store, CHAIN)
    await intruder.remove_chain()
    assert await found(store) == [("unrecorded_answer", CHAIN, None)]


async def edit_answer(database: Database, **changes: Any) -> None:
    async with database.write() as connection:
        await connection.execute(update(answers).where(answers.c.request_id == "perm_1").values(**changes))


@pytest.mark.parametrize(
    "changes",
    [{"value": {"decision": "reject"}}, {"by_id": "u-bob"}, {"by_name": "bob"}, {"source": "x"}, {"origin": "grant"}],
    ids=str,
)
async def test_an_answer_edited_behind_the_servers_back_is_found(
    store: Store, intruder: Intruder, changes: dict[str, Any]
) -> None:
    await settle_one(store, CHAIN)
    await settle_one(store, "ann-2", request_id="perm_2")
    assert await found(store) == []
    await edit_answer(intruder.database, **changes)
    assert await found(store) == [("altered_answer", CHAIN, 8)]


async def test_an_answer_that_is_no_json_is_found(store: Store, intruder: Intruder) -> None:
    await settle_one(store, CHAIN)
    async with intruder.database.write() as connection:
        await connection.execute(text("UPDATE answers SET value = 'no json', origin = 'nobody'"))
    assert await found(store) == [("altered_answer", CHAIN, 8)]


async def test_an_answer_with_a_secret_is_as_it_was_recorded(store: Store, intruder: Intruder) -> None:
    await settle_one(store, CHAIN, kind=RequestKind.ENV_VAR)
    assert await found(store) == []
    await edit_answer(intruder.database, value={"values": {"REGION": "us"}, "handles": {"KEY": "sec"}, "save": False})
    assert await found(store) == [("altered_answer", CHAIN, 8)]
    for forged in ({"values": 1}, {"values": [["KEY", "***"]], "save": False}, "no object"):
        await edit_answer(intruder.database, value=forged)
        assert await found(store) == [("altered_answer", CHAIN, 8)]


async def test_a_removed_answer_is_found_but_not_that_of_a_deleted_thread(store: Store, intruder: Intruder) -> None:
    await settle_one(store, CHAIN)
    await settle_one(store, "ann-2", request_id="perm_2")
    await delete_thread(core_on(store), ANN, "ann-2")
    assert await found(store) == []
    async with intruder.database.write() as connection:
        await connection.execute(delete(answers))
        await connection.execute(update(threads).where(threads.c.id == CHAIN).values(status="deleted"))
    assert await found(store) == [("altered_answer", CHAIN, 8)]


async def test_an_answer_that_nobody_gave_is_found(store: Store, intruder: Intruder) -> None:
    await settle_one(store, CHAIN)
    async with intruder.database.write() as connection:
        forged: dict[str, Any] = {
            "value": {},
            "by_id": "u",
            "by_name": "u",
            "source": "x",
            "origin": "person",
            "metadata": {},
        }
        await connection.execute(insert(answers), {**forged, "request_id": "perm_9", "at": AT})
    assert await found(store) == [("unrecorded_answer", "", None)]
    assert "perm_9" in (await findings(store))[0].text


async def test_texts_of_findings_say_what_happened(store: Store, intruder: Intruder) -> None:
    await intruder.delete(2, 3)
    await intruder.delete(6, 7)
    texts = [one.text for one in await findings(store)]
    assert texts[0] == "entries 2 to 3 are missing"
    assert texts[-1] == "entries 6 to 7 are cut off the end"
    assert json.dumps(texts)
