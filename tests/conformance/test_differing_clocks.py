"""Servers on one database whose clocks differ: what a call of the one holds is held for the others too."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from interlock.domain.effect import EffectState
from interlock.domain.gateway import Verdict
from interlock.domain.kinds import RequestKind
from interlock.domain.request import RequestStatus
from interlock.domain.upstream_call import UpstreamCall
from interlock.services.core import Core, Policy
from interlock.services.gateway import calls, doubts
from interlock.services.gateway.calls import ProposedCall
from interlock.services.requests import holding, pending
from interlock.services.requests.deadlines import until_nearest
from interlock.services.requests.holding import CallAsk
from interlock.services.requests.outside import Ask
from interlock.storage.store import SqlStore
from tests.conformance.examples import ANN
from tests.conformance.trails import core_on

CALL = ProposedCall("web", "write", {"text": "a"}, {"name": "write"}, Verdict("pass", None, is_idempotent=False))

pytestmark = [
    pytest.mark.parametrize("database_url", ["postgres"], indirect=True),
    pytest.mark.parametrize("minutes", [-60, 60]),
]


class WrongClock:
    def __init__(self, minutes: int) -> None:
        self._wrong = timedelta(minutes=minutes)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._wrong


def server(store: SqlStore, minutes: int = 0) -> Core:
    return replace(core_on(store, WrongClock(minutes)), policy=Policy(several_servers=True))


def asked(holder: str) -> CallAsk:
    return CallAsk(Ask(RequestKind.APPROVAL, {"tool_name": "deploy", "args": {}}, None), "d", holder)


async def test_an_ask_that_is_waited_for_is_not_taken_over(store: SqlStore, minutes: int) -> None:
    one, other = server(store), server(store, minutes)
    for number, (first, second) in enumerate([(one, other), (other, one)]):
        held = await holding.ask(first, ANN, asked(f"first {number}"))
        await holding.end_abandoned(second)
        again = await holding.ask(second, ANN, asked(f"second {number}"))
        assert again.request_id != held.request_id
        await holding.keep(first, held, f"first {number}")
        await holding.end_abandoned(first)
        for core, own, holder in [(first, held, f"first {number}"), (second, again, f"second {number}")]:
            await holding.tell(core, own, holder)


async def test_an_ask_that_was_left_is_taken_over_and_not_ended(store: SqlStore, minutes: int) -> None:
    one, other = server(store), server(store, minutes)
    for first, second in [(one, other), (other, one)]:
        held = await holding.ask(first, ANN, asked("first"))
        await holding.leave(first, held, "first")
        await holding.end_abandoned(second)
        view = await pending.view_request(second, ANN, held.request_id)
        assert view.request.status is RequestStatus.PENDING
        taken = await holding.ask(second, ANN, asked("second"))
        assert taken.request_id == held.request_id
        await holding.tell(second, taken, "second")


async def test_a_call_that_is_under_way_is_not_doubted(store: SqlStore, minutes: int) -> None:
    one, other = server(store), server(store, minutes)
    for first, second in [(one, other), (other, one)]:
        begun = await calls.begin(first, ANN, CALL, "served 1", None)
        await doubts.put_lost(second)
        assert await calls.resume(second, ANN, CALL, "served 2") is None
        await calls.keep(first, begun.call)
        await doubts.put_lost(second)
        async with one.store.snapshot() as tx:
            effect = await tx.effects.get(begun.call.key)
        assert effect is not None
        assert effect.state is EffectState.INTENDED
        await calls.done(first, begun.call, {"content": []}, "")


async def test_a_call_that_was_left_is_taken_over(store: SqlStore, minutes: int) -> None:
    one, other = server(store), server(store, minutes)
    for first, second in [(one, other), (other, one)]:
        begun = await calls.begin(first, ANN, CALL, "served 1", None)
        await calls.leave(first, begun.call)
        taken = await calls.resume(second, ANN, CALL, "served 2")
        assert isinstance(taken, UpstreamCall)
        assert taken.id == begun.call.id
        await calls.done(second, taken, {"content": []}, "")


async def test_who_looks_for_calls_that_were_left_sleeps_until_one_may_be(store: SqlStore, minutes: int) -> None:
    core = server(store, minutes)
    await calls.begin(core, ANN, CALL, "served 1", None)
    assert 0 < await until_nearest(core) <= core.policy.lease_seconds
