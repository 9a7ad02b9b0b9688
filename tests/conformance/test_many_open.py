"""A conversation with more open requests than a statement has parameters: seen, stopped, and deleted bit by bit."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import func, select

from interlock.domain.errors import Forbidden, NotFound, TooManyOpen
from interlock.domain.kinds import RequestKind
from interlock.domain.principal import Principal, Role
from interlock.services.audit import trail as auditing
from interlock.services.core import Core, OperatorSettings
from interlock.services.operations import housekeeping
from interlock.services.requests import answering, outside, pending
from interlock.services.requests.answering import Reply, Sender
from interlock.services.requests.pending import RequestQuery
from interlock.services.requests.quota import OpenAsks, Quota
from interlock.services.threads import messages, threads
from interlock.services.threads.removal import CANCELLED_AT_ONCE, drop_some
from interlock.storage.database import Database
from interlock.storage.schema import audit, removals, requests
from interlock.storage.store import SqlStore
from tests.conformance.examples import ANN, a_user
from tests.conformance.trails import core_on
from tests.support.many import copy_request, rows_left
from tests.support.waiting import wait_for

pytestmark = pytest.mark.promise("P16")

ASKED = outside.Ask(RequestKind.CLARIFICATION, {"question": "Which?"}, None)
GONE = {"requests": 0, "pauses": 0, "events": 1}
"""The last event stays."""
SECONDS = 120.0
MANY = 5_000
"""More than are dropped in one step; tests/durability has more than a statement has parameters."""


async def ask(core: Core, by: Principal = ANN, **named: Any) -> outside.AskResult:
    placed: list[outside.AskResult] = []

    def seen(one: outside.AskResult) -> bytes:
        placed.append(one)
        return b""

    await outside.ask(core, by, outside.Ask(ASKED.kind, ASKED.data, None, **named), None, seen)
    return placed[0]


async def asked_much(store: SqlStore, url: str, count: int) -> tuple[Core, str]:
    core = core_on(store)
    async with store.transaction() as tx:
        await tx.users.add(a_user())
    request = (await ask(core)).request
    await asyncio.to_thread(copy_request, url, request.id, count)
    return core, request.thread_id


async def dropped(core: Core) -> int:
    steps = 0
    async with asyncio.timeout(SECONDS):
        while await drop_some(core):
            steps += 1
    return steps


async def count(database: Database, statement: Any) -> int:
    async with database.read() as connection:
        return await connection.scalar(statement) or 0


async def test_a_conversation_with_many_open_asks_is_stopped_bit_by_bit(
    store: SqlStore, database: Database, database_url: str
) -> None:
    core, thread_id = await asked_much(store, database_url, 1_000)

    found = await pending.pending_of(core, ANN, thread_id)
    await answering.answer(core, Sender(ANN, "test"), Reply(found[0].id, {"answer": "this"}))
    async with asyncio.timeout(SECONDS):
        assert not await messages.interrupt(core, ANN, thread_id, "enough", "test")

    assert await pending.pending_of(core, ANN, thread_id) == []
    async with store.snapshot() as tx:
        thread = await tx.threads.get(thread_id)
    assert thread is not None
    assert thread.status == "idle"
    cancelled = select(func.count()).where(audit.c.thread_id == thread_id, audit.c.action == "request.cancelled")
    assert await count(database, cancelled) == 1_000


async def test_a_deleted_conversation_is_gone_at_once_and_dropped_bit_by_bit(
    store: SqlStore, database: Database, database_url: str
) -> None:
    core, thread_id = await asked_much(store, database_url, MANY)
    (first, *rest, last) = await pending.pending_of(core, ANN, thread_id)
    assert len(rest) == MANY - 1

    await threads.delete_thread(core, ANN, thread_id)

    left = rows_left(database_url, thread_id)
    assert left["requests"] > MANY / 2
    assert await pending.open_requests_of(core, ANN, thread_id) is None
    assert await pending.list_pending(core, ANN, RequestQuery(), None, 10) == ([], 0)
    for request in (first, last):
        with pytest.raises(NotFound):
            await pending.view_request(core, ANN, request.id)
        with pytest.raises(NotFound):
            await answering.answer(core, Sender(ANN, "test"), Reply(request.id, {"answer": "late"}))
    with pytest.raises(Forbidden):
        await ask(core, conversation_id=thread_id)

    assert await dropped(core) > 5
    assert rows_left(database_url, thread_id) == GONE
    assert await count(database, select(func.count()).select_from(removals)) == 0
    cancelled = select(func.count()).where(audit.c.thread_id == thread_id, audit.c.action == "request.cancelled")
    assert await count(database, cancelled) == MANY + 1
    assert not (await auditing.verify(core, None)).findings


async def test_others_ask_between_two_steps_of_a_long_deletion(store: SqlStore, database_url: str) -> None:
    core, thread_id = await asked_much(store, database_url, MANY)
    await threads.delete_thread(core, ANN, thread_id)
    dropping = asyncio.create_task(dropped(core))

    for _ in range(3):
        await ask(core)
        assert not dropping.done()

    assert await dropping > 5
    assert rows_left(database_url, thread_id) == GONE


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_where_one_writes_at_a_time_others_wait_for_few_requests_of_a_deleted_conversation(
    store: SqlStore, database_url: str
) -> None:
    core, thread_id = await asked_much(store, database_url, MANY)
    await threads.delete_thread(core, ANN, thread_id)
    dropping = asyncio.create_task(dropped(core))

    left = [rows_left(database_url, thread_id)["requests"]]
    for _ in range(3):
        await ask(core)
        left.append(rows_left(database_url, thread_id)["requests"])

    # The step that is under way when it is asked, and those that begin before and after its own transaction.
    assert all(before - after <= 4 * CANCELLED_AT_ONCE for before, after in pairwise(left)), left
    assert await dropping > MANY / CANCELLED_AT_ONCE


async def test_what_is_left_of_a_deleted_conversation_neither_expires_nor_counts(
    store: SqlStore, database: Database, database_url: str
) -> None:
    core, thread_id = await asked_much(store, database_url, 1_000)
    async with database.write() as connection:
        await connection.execute(requests.update().values(deadline=core.clock.now(), warn_at=core.clock.now()))
    await threads.delete_thread(core, ANN, thread_id)

    assert await answering.expire_due(core) == 0
    async with store.snapshot() as tx:
        assert await tx.requests.next_deadline() is None
        assert await tx.requests.next_warning() is None
        assert sum((await tx.requests.pending_by_kind(10)).values()) == 0
    await ask(replace(core, settings=OperatorSettings(quota=Quota(per_owner=1))))


async def test_a_server_that_starts_goes_on_with_what_is_left(store: SqlStore, database_url: str) -> None:
    core, thread_id = await asked_much(store, database_url, 1_000)
    await threads.delete_thread(core, ANN, thread_id)

    # Nobody of the new one was told of it.
    keeping = asyncio.create_task(housekeeping.keep_dropping(core_on(store)))
    try:
        await asyncio.to_thread(wait_for, lambda: rows_left(database_url, thread_id), GONE.__eq__, SECONDS)
    finally:
        keeping.cancel()
        # A connection that it still holds has to be given back before the database is closed.
        with suppress(asyncio.CancelledError):
            await keeping


@pytest.mark.parametrize(
    ("quota", "where"),
    [
        (Quota(per_conversation=2), "conversation"),
        (Quota(per_owner=2), "owner"),
        (Quota(in_all=4), "server"),
    ],
)
async def test_no_more_may_be_open_than_the_quota_says(store: SqlStore, quota: Quota, where: str) -> None:
    core = replace(core_on(store), settings=OperatorSettings(quota=quota))
    async with store.transaction() as tx:
        await tx.users.add(a_user())
    first = (await ask(core)).request
    # A conversation's own quota is about that one; the others are about all of them.
    same: dict[str, Any] = {"conversation_id": first.thread_id} if where == "conversation" else {}
    await ask(core, **same)

    with pytest.raises(TooManyOpen, match=f"2 requests may be open .*{where}"):
        await ask(core, **same)

    if where == "conversation":
        await ask(core)
    await answering.answer(core, Sender(ANN, "test"), Reply(first.id, {"answer": "this"}))
    await ask(replace(core, open_asks=OpenAsks()), **same)


async def ask_all_one_may(core: Core, store: SqlStore, name: str) -> int:
    async with store.transaction() as tx:
        await tx.users.add(a_user(f"u-{name}", name))
    for asked in range(100):
        try:
            await ask(core, Principal(f"u-{name}", name, Role.OWNER))
        except TooManyOpen:
            return asked
    return 100


async def test_an_owner_may_hold_as_many_as_are_left_for_all_others(store: SqlStore) -> None:
    core = replace(core_on(store), settings=OperatorSettings(quota=Quota(in_all=64)))

    held = [await ask_all_one_may(core, store, f"o{number}") for number in range(8)]

    # Half of what is free, each, and at last one each: whoever comes late is let in.
    assert held == [32, 16, 8, 4, 2, 1, 1, 1]
    async with store.snapshot() as tx:
        assert await tx.requests.pending_by_owner(3) == {"u-o0": 32, "u-o1": 16, "u-o2": 8}
