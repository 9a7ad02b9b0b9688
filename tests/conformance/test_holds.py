"""Holds: of several calls that want an ask, one has it."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from interlock.domain.errors import TakenOver
from interlock.domain.hold import LEASE, ORPHANS_KEPT, Hold
from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import RequestKind
from interlock.domain.request import RequestStatus
from interlock.services.core import Core
from interlock.services.requests import answering, holding, pending
from interlock.services.requests.answering import Reply, Sender
from interlock.services.requests.holding import CallAsk
from interlock.services.requests.outside import Ask
from interlock.storage.store import SqlStore
from tests.conformance.examples import ANN
from tests.conformance.trails import core_on

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)


def hold(request_id: str = "perm_1", *, until: datetime = NOW, digest: str = "d", asker: str = "key_1") -> Hold:
    return Hold(request_id, asker, digest, "call_1", until, "toolu_1")


async def test_an_orphan_is_found_by_its_asker_and_digest_once_its_time_is_over(store: SqlStore) -> None:
    kept = [hold(), hold("perm_2", until=LATER), hold("perm_3", digest="e"), hold("perm_4", asker="key_2")]
    async with store.transaction() as tx:
        for one in kept:
            await tx.holds.add(one)
        assert await tx.holds.orphans("key_1", "d", NOW) == [kept[0]]
        assert await tx.holds.orphans("key_1", "d", LATER) == kept[:2]
        assert {one.request_id for one in await tx.holds.abandoned(LATER, 10)} == {"perm_1", "perm_3", "perm_4"}


async def test_of_several_takers_at_once_one_has_it(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.holds.add(hold())

    async def take(holder: str) -> bool:
        async with store.transaction() as tx:
            return await tx.holds.take_over(hold(), holder, LATER, None)

    taken = await asyncio.gather(*(take(f"call_{number}") for number in range(2, 8)))
    assert taken.count(True) == 1


async def test_only_its_holder_renews_and_ends_a_hold(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.holds.add(hold())
        assert await tx.holds.replace("perm_1", "call_2", LATER)
        assert not await tx.holds.renew("perm_1", "call_1", LATER)
        assert not await tx.holds.end("perm_1", "call_1")
        assert await tx.holds.renew("perm_1", "call_2", LATER)
        assert await tx.holds.end("perm_1", "call_2")
        assert not await tx.holds.replace("perm_1", "call_3", LATER)


class SetClock:
    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> datetime:
        return self.at


def clocked(store: SqlStore) -> tuple[Core, SetClock]:
    clock = SetClock()
    return core_on(store, clock), clock


async def ask_and_go(core: Core) -> str:
    held = await holding.ask(core, ANN, asked("call_1"))
    await holding.abandon(core, held, "call_1")
    return held.request_id


def asked(holder: str) -> CallAsk:
    data: JsonObject = {"tool_name": "deploy", "args": {}}
    return CallAsk(Ask(RequestKind.APPROVAL, data, None), "d", holder)


async def test_what_nobody_takes_over_in_time_ends_because_its_asker_is_gone(store: SqlStore) -> None:
    core, clock = clocked(store)
    request_id = await ask_and_go(core)
    clock.at = NOW + ORPHANS_KEPT
    await holding.end_abandoned(core)
    assert (await pending.view_request(core, ANN, request_id)).request.status is RequestStatus.PENDING
    clock.at += timedelta(seconds=1)
    await holding.end_abandoned(core)
    request = (await pending.view_request(core, ANN, request_id)).request
    assert (request.status, request.ending and request.ending.reason) == (RequestStatus.CANCELLED, "asker_gone")
    await holding.end_abandoned(core)


async def test_a_call_that_shows_no_life_is_taken_over_and_told_nothing(store: SqlStore) -> None:
    core, clock = clocked(store)
    first = await holding.ask(core, ANN, asked("call_1"))
    assert (await holding.ask(core, ANN, asked("call_2"))).request_id != first.request_id
    clock.at = NOW + LEASE
    taken = await holding.ask(core, ANN, asked("call_3"))
    assert taken.request_id == first.request_id
    for late in (holding.renew, holding.finish):
        with pytest.raises(TakenOver):
            await late(core, first, "call_1")
    await holding.finish(core, taken, "call_3")


async def test_what_was_held_by_a_server_that_died_is_an_orphan_when_it_starts_again(store: SqlStore) -> None:
    core, _clock = clocked(store)
    first = await holding.ask(core, ANN, asked("call_1"))
    await holding.release_all(core)
    assert (await holding.ask(core, ANN, asked("call_2"))).request_id == first.request_id
    with pytest.raises(TakenOver):
        await holding.finish(core, first, "call_1")


async def test_a_call_that_shows_life_is_not_taken_over(store: SqlStore) -> None:
    core, clock = clocked(store)
    first = await holding.ask(core, ANN, asked("call_1"))
    clock.at = NOW + LEASE / 2
    await holding.renew(core, first, "call_1")
    clock.at = NOW + LEASE
    assert (await holding.ask(core, ANN, asked("call_2"))).request_id != first.request_id


async def test_an_answer_is_kept_for_a_quarter_of_an_hour_and_no_longer(store: SqlStore) -> None:
    core, clock = clocked(store)
    request_id = await ask_and_go(core)
    await answering.answer(core, Sender(ANN, "web"), Reply(request_id, {"decision": "accept"}))
    clock.at = NOW + ORPHANS_KEPT + timedelta(seconds=1)
    again = await holding.ask(core, ANN, asked("call_2"))
    assert again.request_id != request_id
    assert (await pending.view_request(core, ANN, again.request_id)).request.status is RequestStatus.PENDING
