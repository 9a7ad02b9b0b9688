"""Servers on one database whose clocks differ: what a call of the one holds is held for the others too."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from interlock.domain.effect import EffectState
from interlock.domain.gateway import CallTerms, UpstreamCall
from interlock.domain.kinds import RequestKind, read_ask
from interlock.domain.policy import Ruling
from interlock.domain.request import RequestStatus
from interlock.domain.webhook import Webhook, WebhookEvent
from interlock.services.core import Core, OperatorSettings, unit
from interlock.services.gateway import calls, doubts
from interlock.services.gateway.calls import ProposedCall
from interlock.services.requests import answering, extending, holding, outside, pending
from interlock.services.requests.answering import Reply, Sender
from interlock.services.requests.deadlines import until_nearest
from interlock.services.requests.holding import CallAsk
from interlock.services.requests.outside import Ask
from interlock.services.webhooks import webhooks
from interlock.services.webhooks.sender import CLAIM
from interlock.storage.store import SqlStore
from tests.client.asking import until
from tests.conformance.examples import ANN, a_request
from tests.conformance.trails import core_on

CALL = ProposedCall(
    "web", "write", {"text": "a"}, {"name": "write"}, CallTerms(Ruling.ALLOW, None, is_idempotent=False)
)

pytestmark = [
    pytest.mark.parametrize("database_url", ["postgres"], indirect=True),
    pytest.mark.parametrize("minutes", [-60, 60]),
]

SECONDS = 20.0
"""How long the second of two clocks may be behind the first, all in all."""


class WrongClock:
    def __init__(self, minutes: int) -> None:
        self._wrong = timedelta(minutes=minutes)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._wrong


def server(store: SqlStore, minutes: int = 0) -> Core:
    settings = OperatorSettings(several_servers=True, webhook_hosts=("127.0.0.1",))
    return replace(core_on(store, WrongClock(minutes)), settings=settings)


def asked(holder: str) -> CallAsk:
    return CallAsk(Ask(RequestKind.APPROVAL, {"tool_name": "deploy", "args": {}}, None), "d", holder)


async def ask(core: Core, seconds: float) -> str:
    given: dict[str, Any] = {"tool_name": "deploy", "args": {}}
    async with unit(core) as work:
        body = read_ask(RequestKind.APPROVAL, given)
        placed = await outside.place_ask(work, ANN, Ask(RequestKind.APPROVAL, given, seconds), body)
    return placed.request.id


async def test_an_ask_that_is_waited_for_is_not_taken_over(store: SqlStore, minutes: int) -> None:
    one, other = server(store), server(store, minutes)
    for number, (first, second) in enumerate([(one, other), (other, one)]):
        held = await holding.ask(first, ANN, asked(f"first {number}"))
        await holding.end_abandoned(second)
        again = await holding.ask(second, ANN, asked(f"second {number}"))
        assert again.request_id != held.request_id
        await holding.renew(first, held, f"first {number}")
        await holding.end_abandoned(first)
        for core, own, holder in [(first, held, f"first {number}"), (second, again, f"second {number}")]:
            await holding.finish(core, own, holder)


async def test_an_ask_that_was_left_is_taken_over_and_not_ended(store: SqlStore, minutes: int) -> None:
    one, other = server(store), server(store, minutes)
    for first, second in [(one, other), (other, one)]:
        held = await holding.ask(first, ANN, asked("first"))
        await holding.abandon(first, held, "first")
        await holding.end_abandoned(second)
        view = await pending.view_request(second, ANN, held.request_id)
        assert view.request.status is RequestStatus.PENDING
        taken = await holding.ask(second, ANN, asked("second"))
        assert taken.request_id == held.request_id
        await holding.finish(second, taken, "second")


async def test_a_call_that_is_under_way_is_not_doubted(store: SqlStore, minutes: int) -> None:
    one, other = server(store), server(store, minutes)
    for first, second in [(one, other), (other, one)]:
        begun = await calls.begin(first, ANN, CALL, "served 1", None)
        await doubts.ask_about_lost(second)
        assert await calls.resume(second, ANN, CALL, "served 2") is None
        await calls.renew(first, begun.call)
        await doubts.ask_about_lost(second)
        async with one.store.snapshot() as tx:
            effect = await tx.effects.get(begun.call.key)
        assert effect is not None
        assert effect.state is EffectState.INTENDED
        await calls.record_result(first, begun.call, {"content": []}, "")


async def test_a_call_that_was_left_is_taken_over(store: SqlStore, minutes: int) -> None:
    one, other = server(store), server(store, minutes)
    for first, second in [(one, other), (other, one)]:
        begun = await calls.begin(first, ANN, CALL, "served 1", None)
        await calls.abandon(first, begun.call)
        taken = await calls.resume(second, ANN, CALL, "served 2")
        assert isinstance(taken, UpstreamCall)
        assert taken.id == begun.call.id
        await calls.record_result(second, taken, {"content": []}, "")


async def test_who_looks_for_calls_that_were_left_sleeps_until_one_may_be(store: SqlStore, minutes: int) -> None:
    core = server(store, minutes)
    await calls.begin(core, ANN, CALL, "served 1", None)
    assert 0 < await until_nearest(core) <= core.settings.lease_seconds


async def test_a_request_expires_by_one_clock(store: SqlStore, minutes: int) -> None:
    one, other = server(store), server(store, minutes)
    for first, second in [(one, other), (other, one)]:
        request_id = await ask(first, 90)
        await second.pulse.beat(second)
        assert await answering.expire_due(second) == 0
        assert 0 < await until_nearest(second) <= 100
        await extending.extend(second, ANN, request_id, 30)
        await answering.answer(second, Sender(ANN, "web"), Reply(request_id, {"decision": "accept"}))
        due = await ask(first, 0.001)
        async with asyncio.timeout(SECONDS):
            while (await pending.view_request(first, ANN, due)).request.status is RequestStatus.PENDING:
                await answering.expire_due(second)


async def test_a_server_that_just_started_expires_nothing_by_its_own_clock(store: SqlStore, minutes: int) -> None:
    for first, second in [(server(store), server(store, minutes)), (server(store, minutes), server(store))]:
        request_id = await ask(first, 90)
        await answering.expire_due(second)
        view = await pending.view_request(second, ANN, request_id)
        assert view.request.status is RequestStatus.PENDING


async def test_a_word_about_a_lost_call_is_kept_for_who_comes_back(store: SqlStore, minutes: int) -> None:
    one, other = server(store), server(store, minutes)
    for first, second in [(one, other), (other, one)]:
        begun = await calls.begin(first, ANN, CALL, "served 1", None)
        await calls.abandon(first, begun.call)
        doubt_id = await doubts.doubt(first, begun.call)
        assert doubt_id is not None
        await answering.answer(first, Sender(ANN, "web"), Reply(doubt_id, {"decision": "skip"}))
        await doubts.ask_about_lost(second)
        async with one.store.snapshot() as tx:
            assert await tx.upstream_calls.get(begun.call.id) is not None
        await calls.record_result(first, begun.call, {"content": []}, "")


async def test_a_delivery_is_due_at_once_and_claimed_by_one(store: SqlStore, minutes: int) -> None:
    one, other = server(store), server(store, minutes)
    for number, (first, second) in enumerate([(one, other), (other, one)]):
        agent = f"of {number}"
        async with unit(first) as work:
            webhook = Webhook(f"hook_{number}", "http://127.0.0.1/", (WebhookEvent.ASKED,), (agent,), "root", work.now)
            await work.tx.webhooks.add(webhook, "secret")
            await webhooks.enqueue_deliveries(work, WebhookEvent.ASKED, a_request(f"perm_{number}", agent=agent))
        await until(partial(claimed, second, webhook), bool)
        assert await claimed(first, webhook) == 0
        assert await claimed(second, webhook) == 0


async def claimed(core: Core, webhook: Webhook) -> int:
    async with unit(core) as work:
        return len(await work.tx.deliveries.claim(webhook.id, work.now, work.now + CLAIM, 4))
