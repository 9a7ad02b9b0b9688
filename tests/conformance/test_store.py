"""Transactions and snapshots, held against the rules at the top of `ports.store`."""

import asyncio
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import SQLAlchemyError

from interlock.domain.errors import InvalidInput, StorageUnavailable
from interlock.domain.event import Custom
from interlock.ports.store import Store, Transaction
from interlock.storage.database import Database, open_database
from interlock.storage.schema import metadata
from interlock.storage.sealing import Sealer
from interlock.storage.store import SqlStore
from tests.conformance.examples import ANN, AT, a_pause, a_request, a_run, a_thread, a_user, an_answer, an_effect, begin

WRITE_AND_DIE = """
import asyncio, os, signal, sys
from interlock.storage.database import open_database
from interlock.storage.sealing import Sealer
from interlock.storage.store import SqlStore
from tests.conformance.examples import a_user

async def main():
    store = SqlStore(open_database(sys.argv[1]), sealer=Sealer(bytes(32)), audit_key=b"k")
    async with store.transaction() as tx:
        await tx.users.add(a_user())
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def write_everything(tx: Transaction) -> None:
    await tx.users.add(a_user())
    await begin(tx)
    await tx.runs.add(a_run())
    await tx.pauses.add(a_pause(), [a_request()])
    await tx.answers.add(an_answer())
    await tx.events.append("ann-1", [Custom({})], AT)
    await tx.effects.add(an_effect())
    await tx.audit.append("ann-1", ANN, "x", {}, AT)
    await tx.secrets.put("h1", "ann-1", "envv_1", "TOKEN", "a", AT)


async def count_rows(database: Database) -> int:
    async with database.read() as connection:
        counts = [await connection.scalar(select(func.count()).select_from(table)) for table in metadata.sorted_tables]
    return sum(count or 0 for count in counts)


async def test_a_block_that_ends_commits_all_of_it(store: Store, database: Database) -> None:
    async with store.transaction() as tx:
        await write_everything(tx)
    assert await count_rows(database) == 11


async def test_a_block_that_raises_leaves_nothing(store: Store, database: Database) -> None:
    async def write_and_fail() -> None:
        async with store.transaction() as tx:
            await write_everything(tx)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await write_and_fail()
    assert await count_rows(database) == 0
    async with store.transaction() as tx:
        await write_everything(tx)


async def test_a_block_that_is_cancelled_leaves_nothing_and_stands_in_nobodys_way(
    store: Store, database: Database
) -> None:
    written = asyncio.Event()

    async def work() -> None:
        async with store.transaction() as tx:
            await write_everything(tx)
            written.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await written.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await count_rows(database) == 0
    async with asyncio.timeout(60), store.transaction() as tx:
        await write_everything(tx)


async def test_a_block_that_is_cancelled_at_any_moment_is_committed_whole_or_not_at_all(
    store: Store, database: Database
) -> None:
    async def work(number: int) -> None:
        async with store.transaction() as tx:
            await tx.users.add(a_user(f"u-{number}", f"name-{number}"))
            await begin(tx, f"ann-{number}")

    for steps in range(60):
        task = asyncio.create_task(work(steps))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        # Cancelled, or too late for it; any other error would be one of ours.
        with suppress(asyncio.CancelledError):
            await task
    async with asyncio.timeout(60), store.transaction() as tx:
        names = {user.username.removeprefix("name-") for user in await tx.users.all()}
        threads, _ = await tx.threads.page("u-ann", 0, 100)
    assert {thread.id.removeprefix("ann-") for thread in threads} == names


async def test_a_snapshot_sees_one_state_whatever_is_committed_meanwhile(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.users.add(a_user())
    async with store.snapshot() as reading:
        assert await reading.users.count() == 1
        async with asyncio.timeout(60), store.transaction() as tx:
            await tx.users.add(a_user("u-bob", "bob"))
        assert await reading.users.count() == 1
        assert await reading.users.by_name("bob") is None
    async with store.snapshot() as reading:
        assert await reading.users.count() == 2


async def test_a_snapshot_waits_for_no_writer_and_sees_nothing_uncommitted(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
    async with store.transaction() as tx:
        await tx.threads.lock("ann-1")
        await tx.threads.update("ann-1", AT, title="New")
        async with asyncio.timeout(60), store.snapshot() as reading:
            assert await reading.threads.get("ann-1") == a_thread()


async def test_what_was_committed_survives_a_process_that_is_killed(store: Store, database_url: str) -> None:
    root = Path(__file__).parents[2]
    died = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", WRITE_AND_DIE, database_url], cwd=root, timeout=60, check=False
    )
    assert died.returncode == -signal.SIGKILL
    async with store.snapshot() as tx:
        assert await tx.users.get("u-ann") == a_user()


@pytest.mark.parametrize("url", ["postgresql://nobody@127.0.0.1:1/none", "sqlite:///{folder}/a-folder"])
async def test_a_database_that_cannot_be_reached_is_told_as_such(tmp_path: Path, url: str) -> None:
    (tmp_path / "a-folder").mkdir()
    database = open_database(url.format(folder=tmp_path))
    store = SqlStore(database, sealer=Sealer(bytes(32)), audit_key=b"k")
    try:
        for _ in range(2):
            with pytest.raises(StorageUnavailable):
                async with store.transaction():
                    pass
            with pytest.raises(StorageUnavailable):
                async with store.snapshot():
                    pass
    finally:
        await database.close()


@pytest.mark.parametrize("url", ["", "nonsense", "mysql://x/y", "sqlite://", "sqlite:///:memory:"])
def test_a_url_that_names_no_lasting_database_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        open_database(url)


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
async def test_connections_that_the_server_ended_are_replaced_unnoticed(database: Database) -> None:
    others = text("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database()")
    async with database.write(), database.read(), database.write():
        pass  # Three connections, which are kept.
    async with database.write() as connection:
        ended = await connection.scalars(text(f"{others} AND pid <> pg_backend_pid()"))
        assert list(ended) == [True, True]
    async with database.write() as one, database.read() as two, database.write() as three:
        for connection in (one, two, three):
            assert await connection.scalar(text("SELECT 1")) == 1


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
async def test_a_commit_that_rolled_back_is_an_error(database: Database) -> None:
    async def fail_unheard() -> None:
        async with database.write() as connection:
            with suppress(SQLAlchemyError):
                await connection.execute(text("SELECT 1 / 0"))

    with pytest.raises(StorageUnavailable):
        await fail_unheard()
    async with database.read() as connection:
        assert await connection.scalar(text("SELECT 1")) == 1
