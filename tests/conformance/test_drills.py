"""Drills touch nothing but what is theirs: no request, event, delivery, figure or count knows of them."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from interlock.domain import showing
from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.drill import BURST, GAP, Drill
from interlock.domain.errors import AlreadySettled, InvalidAnswer, NotFound, NotShown
from interlock.domain.kinds import ApprovalBody
from interlock.domain.principal import Principal, Role
from interlock.domain.request import Request
from interlock.services.access.people import delete_person
from interlock.services.core import Core, unit
from interlock.services.operations.housekeeping import tidy
from interlock.services.requests import drills, pending
from interlock.services.requests.answering import Reply, Sender, answer
from interlock.services.requests.figures import weekly_figures
from interlock.services.requests.idempotency import IdempotentCall
from interlock.services.requests.inbox import PageView
from interlock.services.requests.pending import RequestQuery
from interlock.storage.database import Database
from interlock.storage.schema import audit, audit_heads, metadata, replies
from interlock.storage.schema import drills as drills_table
from interlock.storage.store import SqlStore
from tests.conformance.examples import ANN, a_pause, a_request, a_thread, a_user
from tests.conformance.trails import core_on

ROOT = Principal("u-root", "root", Role.ADMIN)
ANY = RequestQuery()
THEIRS = {drills_table.name, audit.name, audit_heads.name, replies.name}
"""What a drill may write: itself, the audit trail, and the reply that is given again under its key."""


class Later:
    """Now, and what a test adds to it."""

    def __init__(self) -> None:
        self.by = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.by


@pytest.fixture
def clock() -> Later:
    return Later()


@pytest.fixture
async def core(store: SqlStore, clock: Later) -> Core:
    core = core_on(store, clock)
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        await tx.users.add(a_user("u-root", "root", role=Role.ADMIN))
        await tx.threads.add(a_thread(asker_id="key-1"))
    return replace(core, settings=replace(core.settings, drills=50), draw=lambda: 0.0)


async def answered(core: Core, name: str = "perm_1", by: Principal = ANN) -> str:
    """A real approval with a command, which a person answers; after that they may be put to the test."""
    body = ApprovalBody.ask("execute", {"command": "ls"}, risk_level="medium")
    async with unit(core) as work:
        request = a_request(name, f"pause-{name}", body=body, owner_id=ANN.id, agent="demo")
        await work.tx.pauses.add(a_pause(request.pause_id), [request])
    await answer(core, Sender(by, "web"), Reply(name, {"decision": "accept"}))
    return name


async def planted(core: Core) -> list[Drill]:
    await drills.consider(core, ANN, await answered(core))
    return await open_drills(core)


async def open_drills(core: Core) -> list[Drill]:
    async with core.store.snapshot() as tx:
        now = core.clock.now()
        return await tx.drills.open_of(ANN.id, now - drills.WAITS, now + timedelta(days=1))


def shown(drill: Drill) -> Request:
    return drills.view(drill, ANN).view.request


async def decide(core: Core, drill: Drill, value: Mapping[str, Any] | None, by: Principal = ANN) -> Drill:
    page = PageView(showing.shown_digest(shown(drill)), showing.code_of(shown(drill)))
    settled: list[Drill] = []
    once = IdempotentCall(str(uuid.uuid4()), "inbox.answer", b"")

    def keep(one: Drill) -> bytes:
        settled.append(one)
        return b"{}"

    reply = Reply(drill.id, value)
    await drills.answer_from_page(core, Sender(by, "web"), reply, page if value else None, once, keep)
    return settled[0]


async def everything(database: Database) -> dict[str, Sequence[Any]]:
    """All rows of all tables but those of drills."""
    async with database.read() as connection:
        tables = [table for table in metadata.sorted_tables if table.name not in THEIRS]
        return {table.name: sorted(map(str, await connection.execute(select(table)))) for table in tables}


@pytest.mark.promise("P25")
async def test_a_drill_writes_nothing_that_anything_else_reads(core: Core, clock: Later, database: Database) -> None:
    request_id = await answered(core)
    figures = await weekly_figures(core, ANN, 1)
    before = await everything(database)
    await drills.consider(core, ANN, request_id)
    found = await open_drills(core)
    assert len(found) == BURST
    clock.by = BURST * GAP
    assert (await decide(core, found[0], {"decision": "reject", "message": "no"})).is_caught
    assert not (await decide(core, found[1], {"decision": "accept"})).is_caught
    assert (await decide(core, found[2], None)).is_caught
    assert await everything(database) == before
    (week,) = (await weekly_figures(core, ANN, 1)).people[0].weeks
    (was,) = figures.people[0].weeks
    assert (week.drills, week.drills_caught) == (3, 2)
    assert replace(week, drills=0, drills_caught=0) == was


@pytest.mark.promise("P25", "P15")
async def test_a_drill_is_marked_in_the_audit_trail(core: Core) -> None:
    (first, *_) = await planted(core)
    await decide(core, first, {"decision": "accept"})
    async with core.store.snapshot() as tx:
        actions = [one.action for one in await tx.audit.entries(SERVER_CHAIN, 0, 50)]
    assert actions.count("drill.planted") == BURST
    assert actions.count("drill.answered") == 1


@pytest.mark.promise("P25", "P12")
async def test_a_drill_is_there_for_its_person_alone_and_only_where_drills_are_shown(core: Core) -> None:
    found = await planted(core)
    entries = await drills.list_open(core, ANN, ANY, None)
    # The others of the burst come later.
    assert [entry.request.id for entry in entries] == [found[0].id]
    key = Principal("key-1", "worker", Role.AGENT, on_behalf_of=ANN)
    for who in (ROOT, key):
        assert await drills.list_open(core, who, ANY, None) == []
        assert await drills.find(core, who, found[0].id) is None
        with pytest.raises(NotFound):
            await decide(core, found[0], {"decision": "accept"}, who)
    for who in (ANN, ROOT, key):
        assert (await pending.list_pending(core, who, ANY, None, 50))[1] == 0
        with pytest.raises(NotFound):
            await pending.view_request(core, who, found[0].id)
        with pytest.raises(NotFound):
            await answer(core, Sender(who, "hitl"), Reply(found[0].id, {"decision": "accept"}))


async def test_an_answer_is_held_to_what_an_answer_to_a_request_is(core: Core) -> None:
    (first, *_) = await planted(core)
    once = IdempotentCall("k", "inbox.answer", b"")
    sender, reply = Sender(ANN, "web"), Reply(first.id, {"decision": "accept"})
    with pytest.raises(NotShown):
        await drills.answer_from_page(core, sender, reply, PageView("another"), once, lambda _: b"")
    with pytest.raises(InvalidAnswer):
        await decide(core, first, {"decision": "maybe"})
    await decide(core, first, {"decision": "reject"})
    with pytest.raises(AlreadySettled):
        await decide(core, first, {"decision": "accept"})


async def test_nobody_is_put_to_the_test_who_is_not_to_be(core: Core) -> None:
    request_id = await answered(core)
    off = replace(core, settings=replace(core.settings, drills=None))
    unlucky = replace(core, draw=lambda: 0.99)
    key = replace(ANN, key_id="key-2")
    agent = Principal("key-1", "worker", Role.AGENT, on_behalf_of=ANN)
    for one, who in ((off, ANN), (unlucky, ANN), (core, key), (core, agent)):
        await drills.consider(one, who, request_id)
    await drills.consider(core, ANN, "no such request")
    assert await open_drills(core) == []
    await drills.consider(core, ANN, request_id)
    # One burst at a time.
    await drills.consider(core, ANN, request_id)
    assert len(await open_drills(core)) == BURST
    assert await drills.list_open(off, ANN, ANY, None) == []


@pytest.mark.parametrize("end", ["account", "time"])
async def test_drills_go_with_their_person_and_with_time(core: Core, end: str, database: Database) -> None:
    await planted(core)
    if end == "account":
        await delete_person(core, ROOT, "ann")
    else:
        async with unit(core) as work:
            await work.tx.drills.purge(work.now + timedelta(days=1), work.now)
    async with database.read() as connection:
        assert (await connection.execute(select(drills_table))).all() == []
    await tidy(core)
