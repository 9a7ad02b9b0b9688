"""The sender over either database: what it sends, how often it tries, and who waits for whom."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from interlock.bootstrap import NoAgents
from interlock.bus.local import LocalBus
from interlock.domain.principal import Principal, Role
from interlock.domain.webhook import BACK_OFF, Delivery, DeliveryStatus, Webhook, WebhookEvent
from interlock.outbound import HttpPoster
from interlock.passwords import Argon2Passwords
from interlock.ports.store import Store
from interlock.services.core import Core, OperatorSettings, unit
from interlock.services.webhooks import webhooks
from interlock.services.webhooks.sender import AT_ONCE, WebhookSender
from interlock.storage.database import Database
from interlock.storage.sealing import Sealer
from interlock.storage.store import SqlStore
from tests.conformance.examples import a_request
from tests.support.receiver import Receiver

ROOT = Principal("u-root", "root", Role.ADMIN)
SECONDS = 60.0


class Hand:
    """A clock that the test moves on."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 15, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def receiver() -> Generator[Receiver]:
    with Receiver() as listening:
        yield listening


@pytest.fixture
async def core(store: Store) -> AsyncGenerator[Core]:
    hosts = ("127.0.0.1",)
    poster = HttpPoster(hosts, allow_private=True)
    settings = OperatorSettings(webhook_hosts=hosts)
    yield Core(store, LocalBus(), Hand(), NoAgents(), Argon2Passwords(), settings, poster=poster)
    await poster.close()


@asynccontextmanager
async def sending(core: Core, count: int = 1) -> AsyncGenerator[None]:
    """So many senders on one outbox; jitter is none."""
    senders = [WebhookSender(lambda: 0.0) for _ in range(count)]
    tasks = [asyncio.create_task(sender.run(core)) for sender in senders]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def a_webhook(core: Core, receiver: Receiver, path: str = "/") -> tuple[Webhook, str]:
    return await webhooks.create(core, ROOT, f"{receiver.url}{path}")


async def tell(core: Core, count: int = 1) -> None:
    async with unit(core) as work:
        for number in range(count):
            await webhooks.enqueue_deliveries(work, WebhookEvent.ASKED, a_request(f"perm_{number}", agent="demo"))


async def until(core: Core, webhook: Webhook, is_right: Callable[[list[Delivery]], bool]) -> list[Delivery]:
    async with asyncio.timeout(SECONDS):
        while True:
            async with core.store.snapshot() as tx:
                seen = await tx.deliveries.page(webhook.id, None, None, 100)
            if is_right(seen):
                return seen
            await asyncio.sleep(0.01)


def all_are(status: DeliveryStatus) -> Callable[[list[Delivery]], bool]:
    return lambda seen: {delivery.status for delivery in seen} == {status}


def hand(core: Core) -> Hand:
    assert isinstance(core.clock, Hand)
    return core.clock


async def test_a_delivery_arrives_signed_as_soon_as_it_is_committed(core: Core, receiver: Receiver) -> None:
    webhook, secret = await a_webhook(core, receiver)
    async with sending(core):
        await tell(core)
        (delivery,) = await until(core, webhook, all_are(DeliveryStatus.DELIVERED))
    (received,) = receiver.received
    assert (delivery.attempts, delivery.last_status, delivery.delivered_at) == (1, 200, hand(core).at)
    assert (received.id, received.event, received.json) == (delivery.id, "request.asked", delivery.body)
    assert received.is_signed_with(secret)
    assert not received.is_signed_with(secret + "x")


async def test_what_waits_from_before_the_start_is_sent(core: Core, receiver: Receiver) -> None:
    webhook, _ = await a_webhook(core, receiver)
    await tell(core, 12)
    async with sending(core):
        await until(core, webhook, all_are(DeliveryStatus.DELIVERED))
    assert len({received.id for received in receiver.received}) == 12


async def test_two_senders_on_one_outbox_send_each_delivery_once(core: Core, receiver: Receiver) -> None:
    webhook, _ = await a_webhook(core, receiver)
    async with sending(core, 2):
        for _ in range(5):
            await tell(core, 4)
        await until(core, webhook, all_are(DeliveryStatus.DELIVERED))
    assert len(receiver.received) == 20
    assert len({received.id for received in receiver.received}) == 20


async def test_a_refused_delivery_is_tried_ever_more_seldom_and_then_fails(core: Core) -> None:
    with Receiver([500]) as receiver:
        webhook, secret = await a_webhook(core, receiver)
        async with sending(core):
            await tell(core)
            for attempts, wait in enumerate(BACK_OFF, 1):
                due_at = hand(core).at + wait
                (seen,) = await until(core, webhook, lambda seen, due_at=due_at: seen[0].due_at == due_at)
                assert (seen.attempts, seen.last_status) == (attempts, 500)
                hand(core).at += wait
                core.delivery_written.set()
            (failed,) = await until(core, webhook, all_are(DeliveryStatus.FAILED))
        assert (failed.attempts, failed.due_at) == (len(BACK_OFF) + 1, None)
        assert len(receiver.received) == len(BACK_OFF) + 1
        assert len({(received.id, received.body) for received in receiver.received}) == 1
        assert len({received.headers["interlock-signature"] for received in receiver.received}) > 1
        assert all(received.is_signed_with(secret) for received in receiver.received)


@pytest.mark.parametrize("status", [301, 302, 307, 404, 410, 503])
async def test_whatever_is_not_success_is_a_failed_attempt_and_no_redirect_is_followed(core: Core, status: int) -> None:
    with Receiver([status]) as receiver:
        webhook, _ = await a_webhook(core, receiver, "/hook")
        async with sending(core):
            await tell(core)
            (seen,) = await until(core, webhook, lambda seen: seen[0].last_status is not None)
        assert (seen.status, seen.last_status, seen.attempts) == (DeliveryStatus.WAITING, status, 1)
        assert [received.path for received in receiver.received] == ["/hook"]


async def test_a_receiver_that_was_down_gets_it_when_it_is_up(core: Core, receiver: Receiver) -> None:
    webhook, _ = await a_webhook(core, receiver)
    receiver.stop()
    async with sending(core):
        await tell(core)
        (seen,) = await until(core, webhook, lambda seen: seen[0].last_error is not None)
        assert seen.last_status is None
        receiver.start()
        hand(core).at += BACK_OFF[0]
        core.delivery_written.set()
        (seen,) = await until(core, webhook, all_are(DeliveryStatus.DELIVERED))
    assert (seen.attempts, seen.last_error) == (2, None)


async def test_a_receiver_that_does_not_answer_keeps_nobody_else_waiting(core: Core, receiver: Receiver) -> None:
    with Receiver() as slow:
        slow.gate.clear()
        stuck, _ = await a_webhook(core, slow)
        quick, _ = await a_webhook(core, receiver)
        async with sending(core):
            await tell(core, 3 * AT_ONCE)
            await until(core, quick, all_are(DeliveryStatus.DELIVERED))
            assert len(slow.received) <= AT_ONCE
            slow.gate.set()
            await until(core, stuck, all_are(DeliveryStatus.DELIVERED))
        assert len(slow.received) == 3 * AT_ONCE


async def test_a_delivery_whose_sender_died_is_sent_by_another_when_its_claim_ends(
    core: Core, receiver: Receiver
) -> None:
    webhook, _ = await a_webhook(core, receiver)
    await tell(core)
    now = hand(core).at
    async with core.store.transaction() as tx:
        await tx.deliveries.claim(webhook.id, now, now + timedelta(seconds=30), 1)
    hand(core).at += timedelta(seconds=30)
    async with sending(core):
        (seen,) = await until(core, webhook, all_are(DeliveryStatus.DELIVERED))
    assert (seen.attempts, len(receiver.received)) == (2, 1)


async def test_a_replayed_delivery_is_the_same_once_more(core: Core, receiver: Receiver) -> None:
    webhook, _ = await a_webhook(core, receiver)
    async with sending(core):
        await tell(core)
        (seen,) = await until(core, webhook, all_are(DeliveryStatus.DELIVERED))
        await webhooks.replay(core, ROOT, seen.id)
        (again,) = await until(core, webhook, lambda seen: len(receiver.received) == 2 and seen[0].last_status == 200)
    first, second = receiver.received
    assert (first.id, first.body) == (second.id, second.body)
    assert again == replace(seen, attempts=1)


async def test_nothing_is_sent_to_a_webhook_that_was_removed_meanwhile(core: Core, receiver: Receiver) -> None:
    webhook, _ = await a_webhook(core, receiver)
    await tell(core)
    async with core.store.transaction() as tx:
        # Without giving up what waits, as when it is written at the same moment.
        await tx.webhooks.remove(webhook.id, hand(core).at)
    async with sending(core):
        (seen,) = await until(core, webhook, all_are(DeliveryStatus.FAILED))
    assert receiver.received == []
    assert seen.last_error is not None


async def test_a_webhook_whose_secret_cannot_be_opened_is_tried_again_later(
    core: Core, receiver: Receiver, database: Database
) -> None:
    webhook, _ = await a_webhook(core, receiver)
    await tell(core)
    store = SqlStore(database, sealer=Sealer(bytes(32)), audit_key=bytes(32))
    async with sending(replace(core, store=store)):
        (seen,) = await until(core, webhook, lambda seen: seen[0].last_error is not None)
    assert (seen.status, seen.attempts, receiver.received) == (DeliveryStatus.WAITING, 1, [])


async def test_a_host_that_is_no_longer_named_is_not_sent_to(core: Core, receiver: Receiver) -> None:
    webhook, _ = await a_webhook(core, receiver)
    poster = HttpPoster(["other.example"], allow_private=True)
    async with sending(replace(core, poster=poster)):
        await tell(core)
        (seen,) = await until(core, webhook, lambda seen: seen[0].last_error is not None)
    await poster.close()
    assert (seen.status, receiver.received) == (DeliveryStatus.WAITING, [])


async def test_a_sender_that_stops_leaves_a_stuck_post_behind_and_loses_nothing(core: Core) -> None:
    with Receiver() as stuck:
        stuck.gate.clear()
        webhook, _ = await a_webhook(core, stuck)
        async with sending(core):
            await tell(core)
            await until(core, webhook, lambda _: len(stuck.received) == 1)
        (seen,) = await until(core, webhook, all_are(DeliveryStatus.WAITING))
        assert seen.due_at is not None
