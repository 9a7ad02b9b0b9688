"""SQLite's one writer: transactions that queue up share a commit, and nothing else."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import event, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.errors import StorageUnavailable
from interlock.storage.database import Database, SqliteDatabase
from interlock.storage.schema import users
from tests.conformance.examples import AT

pytestmark = [pytest.mark.promise("P1"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]

ROW: dict[str, Any] = {"password_hash": "", "role": "owner", "reviews": [], "created_at": AT, "tokens_after": AT}


async def add(connection: AsyncConnection, name: str) -> None:
    await connection.execute(insert(users), {**ROW, "id": name, "username": name})


async def write(database: Database, name: str, *, fail: bool = False) -> None:
    async with database.write() as connection:
        await add(connection, name)
        if fail:
            raise RuntimeError(name)


async def names(database: Database) -> set[str]:
    async with database.read() as connection:
        return set(await connection.scalars(select(users.c.username)))


def listen(database: Database, heard: Callable[[str], None]) -> None:
    """Have SQLite itself tell of each statement as it begins, in whichever thread it runs."""
    loop, here = asyncio.get_running_loop(), threading.get_ident()

    def told(statement: str) -> None:
        if threading.get_ident() == here:
            heard(statement)
        else:
            loop.call_soon_threadsafe(heard, statement)

    def on_connect(connection: Any, _record: Any) -> None:
        connection.set_trace_callback(told)

    assert isinstance(database, SqliteDatabase)
    event.listen(database.engine, "connect", on_connect)


async def settled(*tasks: asyncio.Task[None]) -> list[BaseException | None]:
    async with asyncio.timeout(60):
        return list(await asyncio.gather(*tasks, return_exceptions=True))


async def test_transactions_that_queue_up_share_one_commit(database: Database) -> None:
    statements: list[str] = []
    listen(database, statements.append)
    await asyncio.gather(*(write(database, f"n{number}") for number in range(10)))
    assert statements.count("COMMIT") == 1
    assert len(await names(database)) == 10


async def test_a_long_queue_is_committed_in_several_groups(database: Database) -> None:
    statements: list[str] = []
    listen(database, statements.append)
    await asyncio.gather(*(write(database, f"n{number}") for number in range(200)))
    assert statements.count("COMMIT") == 4
    assert len(await names(database)) == 200


async def test_nobody_is_told_before_the_commit(database: Database) -> None:
    story: list[str] = []
    listen(database, story.append)

    async def one(number: int) -> None:
        await write(database, f"n{number}")
        story.append("told")

    await asyncio.gather(*(one(number) for number in range(5)))
    assert story.index("COMMIT") < story.index("told")
    assert story.count("told") == 5


async def test_who_fails_because_of_what_another_wrote_is_told_after_the_commit(database: Database) -> None:
    story: list[str] = []
    listen(database, story.append)

    async def too_late() -> None:
        try:
            async with database.write() as connection:
                assert set(await connection.scalars(select(users.c.username))) == {"first"}
                raise LookupError("first was first")
        except LookupError:
            story.append("told")

    async with asyncio.timeout(60):
        await asyncio.gather(write(database, "first"), *(too_late() for _ in range(3)))
    assert story.count("COMMIT") == 1
    assert story.index("COMMIT") < story.index("told")
    assert story.count("told") == 3


@pytest.mark.parametrize("failing", [{0}, {1}, {4}, {0, 1}, {3, 4}, {0, 2, 4}, {0, 1, 2, 3, 4}])
async def test_members_that_fail_take_nothing_of_the_others_with_them(database: Database, failing: set[int]) -> None:
    tasks = [asyncio.create_task(write(database, f"n{number}", fail=number in failing)) for number in range(5)]
    results = await settled(*tasks)
    assert {number for number, error in enumerate(results) if isinstance(error, RuntimeError)} == failing
    assert [error for number, error in enumerate(results) if number not in failing and error] == []
    assert await names(database) == {f"n{number}" for number in range(5) if number not in failing}


async def test_a_member_cancelled_in_the_middle_of_a_statement_takes_nothing_of_the_others_with_it(
    database: Database,
) -> None:
    tasks: list[asyncio.Task[None]] = []
    inserts = 0

    def cancel_the_second(statement: str) -> None:
        nonlocal inserts
        inserts += statement.startswith("INSERT")
        if statement.startswith("INSERT") and inserts == 2:
            tasks[1].cancel()

    listen(database, cancel_the_second)
    tasks += [asyncio.create_task(write(database, f"n{number}")) for number in range(3)]
    results = await settled(*tasks)
    assert [type(error) for error in results] == [type(None), asyncio.CancelledError, type(None)]
    # Whether its own was still stopped depends on how far it had come.
    assert await names(database) >= {"n0", "n2"}


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "SAVEPOINT member", "RELEASE member", "COMMIT"])
async def test_a_member_cancelled_while_the_transaction_is_kept_stands_in_nobodys_way(
    database: Database, statement: str
) -> None:
    tasks: list[asyncio.Task[None]] = []

    def cancel_the_last(heard: str) -> None:
        if heard == statement:
            tasks[0 if statement == "BEGIN IMMEDIATE" else -1].cancel()

    listen(database, cancel_the_last)
    tasks += [asyncio.create_task(write(database, f"n{number}")) for number in range(3)]
    results = await settled(*tasks)
    kept = {f"n{number}" for number, error in enumerate(results) if error is None}
    assert len(kept) >= 2
    assert kept <= await names(database)
    async with asyncio.timeout(60):
        await write(database, "later")
    assert "later" in await names(database)


@pytest.mark.parametrize("steps", range(16))
async def test_a_waiter_that_is_cancelled_leaves_no_group_uncommitted(database: Database, steps: int) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()

    async def first() -> None:
        async with database.write() as connection:
            await add(connection, "first")
            entered.set()
            await leave.wait()

    held = asyncio.create_task(first())
    await entered.wait()
    waiter = asyncio.create_task(write(database, "waiter"))
    await asyncio.sleep(0)
    leave.set()
    for _ in range(steps):
        await asyncio.sleep(0)
    waiter.cancel()
    results = await settled(held, waiter)
    assert results[0] is None
    assert "first" in await names(database)


async def test_when_the_commit_fails_nobody_in_the_group_is_told_that_it_was_made(database: Database) -> None:
    async def fail() -> None:
        async with database.write() as connection:
            # Ends the transaction behind the group's back, as SQLite does itself when a disk is full.
            await add(connection, "n1")
            await connection.exec_driver_sql("ROLLBACK")

    tasks = [asyncio.create_task(write(database, "n0")), asyncio.create_task(fail())]
    tasks.append(asyncio.create_task(write(database, "n2")))
    results = await settled(*tasks)
    assert isinstance(results[0], StorageUnavailable)
    assert isinstance(results[1], StorageUnavailable)
    assert results[2] is None
    assert await names(database) == {"n2"}


async def test_a_reader_that_is_cancelled_gives_its_connection_back_clean(database: Database) -> None:
    async def read() -> None:
        async with database.read() as connection:
            await connection.execute(select(users))
            await asyncio.Event().wait()

    for _ in range(40):
        task = asyncio.create_task(read())
        await asyncio.sleep(0)
        task.cancel()
        assert [type(error) for error in await settled(task)] == [asyncio.CancelledError]
    assert await names(database) == set()
    await write(database, "after")
    assert await names(database) == {"after"}
