"""Whatever is done to a trail, once, somewhere: it is found, and nothing else is. On a real database of SQLite."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, update

from interlock.storage.database import Database, open_database
from interlock.storage.schema import answers
from interlock.storage.sealing import Sealer, derive
from interlock.storage.store import SqlStore
from tests.conformance.examples import after
from tests.conformance.trails import Intruder, found, record, settle_one
from tests.conftest import MASTER_KEY

pytestmark = pytest.mark.promise("P15")

Tamper = Callable[[Intruder, int, int], Awaitable[object]]
"""Does something to the chain at two of its entries."""

NEW: dict[str, Any] = {
    "actor_id": "u-x",
    "actor_name": "x",
    "action": "x",
    "data": {"n": -1},
    "at": after(-1),
    "hash": "0",
}


def edit(name: str) -> Tamper:
    return lambda intruder, one, _other: intruder.edit(one, **{name: NEW[name]})


async def close_the_gap(intruder: Intruder, one: int, _other: int) -> None:
    await intruder.delete(one)
    await intruder.renumber(one + 1, by=-1)


async def squeeze_in(intruder: Intruder, one: int, _other: int) -> None:
    await intruder.renumber(one, by=1)
    await intruder.add(one, action="x")


async def edit_all(intruder: Intruder, one: int, _other: int) -> None:
    await intruder.edit(one, **NEW)


async def cut(intruder: Intruder, one: int, _other: int) -> None:
    await intruder.delete(one, await intruder.last())


async def cut_and_set_head(intruder: Intruder, one: int, _other: int) -> None:
    await cut(intruder, one, one)
    rows = await intruder.rows()
    await intruder.set_head(number=len(rows), hash=rows[-1]["hash"] if rows else "")


async def cut_and_remove_head(intruder: Intruder, one: int, _other: int) -> None:
    await cut(intruder, one + 1, one)
    await intruder.remove_head()


async def duplicate(intruder: Intruder, one: int, other: int) -> None:
    place = other if other != one else one % await intruder.last() + 1
    await intruder.edit(place, **((await intruder.rows())[one - 1] | {"number": place}))


async def append(intruder: Intruder, one: int, _other: int) -> None:
    row = (await intruder.rows())[one - 1]
    del row["number"]
    await intruder.add(await intruder.last() + 1, **row)


async def edit_answer(intruder: Intruder, _one: int, _other: int) -> None:
    async with intruder.database.write() as connection:
        await connection.execute(update(answers).values(value={"decision": "reject"}))


async def delete_answer(intruder: Intruder, _one: int, _other: int) -> None:
    async with intruder.database.write() as connection:
        await connection.execute(delete(answers))


TAMPERING: dict[str, Tamper] = {
    **{f"edit {name}": edit(name) for name in NEW},
    "edit all": edit_all,
    "delete": lambda intruder, one, _other: intruder.delete(one),
    "delete several": lambda intruder, one, other: intruder.delete(min(one, other), max(one, other)),
    "close the gap": close_the_gap,
    "squeeze in": squeeze_in,
    "swap": lambda intruder, one, other: intruder.swap(one, other if other != one else one % 3 + 1),
    "move away": lambda intruder, one, other: intruder.edit(one, number=100 + other),
    "duplicate": duplicate,
    "append": append,
    "cut": cut,
    "cut and set head": cut_and_set_head,
    "cut and remove head": cut_and_remove_head,
    "remove head": lambda intruder, _one, _other: intruder.remove_head(),
    "edit head": lambda intruder, one, _other: intruder.set_head(number=100 + one),
    "move to another chain": lambda intruder, one, other: intruder.edit(one, thread_id="ann-9", number=other),
    "edit answer": edit_answer,
    "delete answer": delete_answer,
    "remove chain": lambda intruder, _one, _other: intruder.remove_chain(),
}


SETTINGS = settings(
    max_examples=4,
    deadline=None,
    database=None,
    derandomize=True,
    # Each example begins with a database of its own.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


async def tampered(database: Database, count: int, name: str, one: int, other: int) -> None:
    store = SqlStore(database, sealer=Sealer(MASTER_KEY), audit_key=derive(MASTER_KEY, "audit"))
    for chain in ("ann-0", "ann-1", "ann-2"):
        await record(store, count if chain == "ann-1" else 1, chain)
    await settle_one(store, "ann-1")
    assert await found(store) == []
    last = count + 1
    await TAMPERING[name](Intruder(database), one % last + 1, other % last + 1)
    told = await found(store)
    assert told
    assert {chain for _, chain, _ in told} <= {"ann-1", "ann-9"}
    if name.startswith("edit ") and name[5:] in NEW:
        assert [(kind, number) for kind, _, number in told if kind == "edited"] == [("edited", one % last + 1)]


@pytest.mark.parametrize("name", TAMPERING)
@settings(
    max_examples=4,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(count=st.integers(2, 7), one=st.integers(0, 20), other=st.integers(0, 20))
def test_any_tampering_is_found_and_no_other_chain_is_named(
    sqlite_template: Path, tmp_path: Path, name: str, count: int, one: int, other: int
) -> None:
    file = tmp_path / "interlock.db"
    for left in tmp_path.glob("interlock.db*"):
        left.unlink()
    shutil.copyfile(sqlite_template, file)

    async def work() -> None:
        database = open_database(f"sqlite:///{file}")
        try:
            await tampered(database, count, name, one, other)
        finally:
            await database.close()

    asyncio.run(work())
