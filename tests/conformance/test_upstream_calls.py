"""Calls of the gateway: one yes starts one, and one whose end nobody knows is a person's to speak of."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from interlock.domain.effect import EffectState
from interlock.domain.errors import TakenOver
from interlock.domain.gateway import CallTerms, ToolPin, UpstreamCall
from interlock.domain.hold import ORPHANS_KEPT
from interlock.domain.kinds import DecisionAnswer
from interlock.domain.policy import Ruling
from interlock.domain.request import RequestStatus
from interlock.services.core import Core
from interlock.services.gateway import calls, doubts
from interlock.services.gateway.calls import ProposedCall, RecordedResult, SendCall, StillRunning
from interlock.services.requests import answering, pending
from interlock.services.requests.answering import Reply, Sender
from interlock.storage.store import SqlStore
from tests.conformance.examples import ANN
from tests.conformance.trails import core_on

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
WANTED = ProposedCall(
    "web", "write", {"text": "a"}, {"name": "write"}, CallTerms(Ruling.ASK, "medium", is_idempotent=False)
)
PASSED = replace(WANTED, terms=CallTerms(Ruling.ALLOW, None, is_idempotent=False))


class SetClock:
    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def core(store: SqlStore, clock: SetClock) -> Core:
    return core_on(store, clock)


async def state_of(core: Core, call: UpstreamCall) -> EffectState | None:
    async with core.store.snapshot() as tx:
        effect = await tx.effects.get(call.key)
    return effect and effect.state


async def left(core: Core, clock: SetClock) -> UpstreamCall:
    """A call whose holder died."""
    begun = await calls.begin(core, ANN, PASSED, "served 1", None)
    clock.at += timedelta(seconds=core.settings.lease_seconds)
    return begun.call


async def doubt_of(core: Core, call: UpstreamCall) -> str:
    async with core.store.snapshot() as tx:
        known = await tx.upstream_calls.get(call.id)
    assert known is not None
    assert known.doubt_id is not None
    return known.doubt_id


async def test_one_yes_starts_one_call_whoever_wants_to(core: Core) -> None:
    held = await calls.ask(core, ANN, WANTED, "call_1")
    await answering.answer(core, Sender(ANN, "web"), Reply(held.request_id, {"decision": "accept"}))
    tried = await asyncio.gather(
        *(calls.begin(core, ANN, WANTED, "call_1", held) for _ in range(5)), return_exceptions=True
    )
    assert sum(isinstance(one, SendCall) for one in tried) == 1
    assert sum(isinstance(one, TakenOver) for one in tried) == 4


async def test_what_a_person_changed_is_what_begins(core: Core) -> None:
    held = await calls.ask(core, ANN, WANTED, "call_1")
    value = {"decision": "edit", "args": {"text": "b"}}
    await answering.answer(core, Sender(ANN, "web"), Reply(held.request_id, value))
    begun = await calls.begin(core, ANN, WANTED, "call_1", held)
    assert begun.args == {"text": "b"}
    async with core.store.snapshot() as tx:
        assert await tx.upstream_calls.pin(ANN.id, "web", "write") == WANTED.pin


async def test_a_call_that_ended_is_on_record_and_told_to_the_same_call_again(core: Core) -> None:
    named = replace(PASSED, key="toolu_1")
    begun = await calls.begin(core, ANN, named, "served 1", None)
    with pytest.raises(StillRunning):
        await calls.resume(core, ANN, named, "served 2")
    await calls.record_result(core, begun.call, {"content": [], "isError": False}, "")
    assert await state_of(core, begun.call) is EffectState.DONE
    assert await calls.resume(core, ANN, named, "served 2") == RecordedResult({"content": [], "isError": False})
    assert await calls.resume(core, ANN, PASSED, "served 3") is None


@pytest.mark.parametrize("wanted", [PASSED, WANTED], ids=["pass", "ask"])
async def test_calls_of_one_conversation_begin_and_end_at_once(core: Core, wanted: ProposedCall) -> None:
    async def call(number: int) -> UpstreamCall:
        own, held = replace(wanted, args={"text": str(number)}), None
        if wanted is WANTED:
            held = await calls.ask(core, ANN, own, f"served {number}")
            await answering.answer(core, Sender(ANN, "web"), Reply(held.request_id, {"decision": "accept"}))
        begun = await calls.begin(core, ANN, own, f"served {number}", held)
        await calls.record_result(core, begun.call, {"content": []}, "")
        return begun.call

    for made in await asyncio.gather(*(call(number) for number in range(40))):
        assert await state_of(core, made) is EffectState.DONE


async def test_a_call_whose_holder_is_gone_is_asked_about_once(core: Core, clock: SetClock) -> None:
    call = await left(core, clock)
    await doubts.ask_about_lost(core)
    await doubts.ask_about_lost(core)
    assert await state_of(core, call) is EffectState.IN_DOUBT
    view = await pending.view_request(core, ANN, await doubt_of(core, call))
    assert view.request.status is RequestStatus.PENDING
    assert len(await pending.pending_of(core, ANN, call.thread_id)) == 1


async def test_a_call_whose_holder_lives_is_not_asked_about(core: Core, clock: SetClock) -> None:
    begun = await calls.begin(core, ANN, PASSED, "served 1", None)
    clock.at += timedelta(seconds=core.settings.lease_seconds / 2)
    await calls.renew(core, begun.call)
    clock.at += timedelta(seconds=core.settings.lease_seconds / 2)
    await doubts.ask_about_lost(core)
    assert await state_of(core, begun.call) is EffectState.INTENDED


async def test_an_idempotent_call_that_was_left_is_nobodys_question(core: Core, clock: SetClock) -> None:
    wanted = replace(PASSED, terms=CallTerms(Ruling.ALLOW, None, is_idempotent=True))
    begun = await calls.begin(core, ANN, wanted, "served 1", None)
    clock.at += timedelta(seconds=core.settings.lease_seconds)
    await doubts.ask_about_lost(core)
    assert await state_of(core, begun.call) is EffectState.FAILED
    assert await pending.pending_of(core, ANN, begun.call.thread_id) == []


async def test_the_same_call_takes_a_doubt_over_and_only_one_does(core: Core, clock: SetClock) -> None:
    call = await left(core, clock)
    await doubts.ask_about_lost(core)
    taken = await asyncio.gather(*(calls.resume(core, ANN, PASSED, f"served {number}") for number in range(2, 6)))
    [own] = [one for one in taken if one is not None]
    assert isinstance(own, UpstreamCall)
    assert own.id == call.id
    with pytest.raises(TakenOver):
        await doubts.resolve(core, call, DecisionAnswer("retry"))
    assert await doubts.resolve(core, own, DecisionAnswer("retry")) == {"text": "a"}
    assert await state_of(core, call) is EffectState.INTENDED
    clock.at += timedelta(seconds=core.settings.lease_seconds)
    # It is lost again: that attempt is another question.
    first = (await pending.pending_of(core, ANN, call.thread_id))[0].id
    await doubts.ask_about_lost(core)
    assert await doubt_of(core, call) != first


async def test_what_a_person_said_and_nobody_came_back_for_ends_the_call_and_runs_nothing(
    core: Core, clock: SetClock
) -> None:
    call = await left(core, clock)
    await doubts.ask_about_lost(core)
    reply = Reply(await doubt_of(core, call), {"decision": "done", "reason": "seen"})
    await answering.answer(core, Sender(ANN, "web"), reply)
    await doubts.ask_about_lost(core)
    assert await state_of(core, call) is EffectState.IN_DOUBT
    clock.at += ORPHANS_KEPT
    await doubts.ask_about_lost(core)
    assert await state_of(core, call) is EffectState.DONE
    async with core.store.snapshot() as tx:
        assert await tx.upstream_calls.get(call.id) is None


async def test_an_end_that_comes_late_withdraws_the_question(core: Core, clock: SetClock) -> None:
    call = await left(core, clock)
    await doubts.ask_about_lost(core)
    await calls.record_result(core, call, {"content": []}, "")
    assert await state_of(core, call) is EffectState.DONE
    assert await pending.pending_of(core, ANN, call.thread_id) == []


async def test_the_only_server_of_a_folder_leaves_what_its_processes_held(core: Core) -> None:
    own = (await calls.begin(core, ANN, PASSED, "served 1", None)).call
    elsewhere = (await calls.begin(core, ANN, replace(PASSED, tool="other"), "wrapper 1", None)).call
    await doubts.take_over(core)
    await doubts.ask_about_lost(core)
    assert await state_of(core, own) is EffectState.IN_DOUBT
    assert await state_of(core, elsewhere) is EffectState.INTENDED


async def test_a_pin_is_the_last_that_was_set(store: SqlStore) -> None:
    for digest in ("d", "e"):
        async with store.transaction() as tx:
            await tx.upstream_calls.set_pin(ToolPin("u-ann", "web", "write", digest))
    async with store.snapshot() as tx:
        assert await tx.upstream_calls.pin("u-ann", "web", "write") == "e"
        assert await tx.upstream_calls.pin("u-ann", "web", "read") is None
