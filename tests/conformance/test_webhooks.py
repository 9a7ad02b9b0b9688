"""Webhooks and their outbox, held against `ports.webhooks`, and what the services write there."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from interlock.bootstrap import NoAgents
from interlock.bus.local import LocalBus
from interlock.domain.errors import Forbidden, InvalidInput, NotFound
from interlock.domain.event import RequestSettled
from interlock.domain.kinds import QuestionsAnswer, QuestionsBody
from interlock.domain.principal import SYSTEM, Principal, Role
from interlock.domain.request import AnswerOrigin, RequestStatus
from interlock.domain.webhook import Delivery, DeliveryStatus, Webhook, WebhookEvent
from interlock.outbound import HttpPoster
from interlock.passwords import Argon2Passwords
from interlock.ports.store import Store
from interlock.services.core import Core, OperatorSettings, unit
from interlock.services.webhooks import webhooks
from interlock.storage.database import Database
from interlock.storage.schema import webhooks as webhooks_table
from tests.conformance.examples import AT, a_pause, a_request, a_thread, a_user, after

ROOT = Principal("u-root", "root", Role.ADMIN)
ALL = tuple(WebhookEvent)


def a_webhook(webhook_id: str = "hook_1", **changes: Any) -> Webhook:
    return replace(Webhook(webhook_id, "https://x.example/", ALL, (), "root", AT), **changes)


def a_delivery(delivery_id: str = "dlv_1", **changes: Any) -> Delivery:
    body = {"id": delivery_id, "data": {"text": "a\0b \ud800 日本"}}
    waiting = DeliveryStatus.WAITING
    made = Delivery(delivery_id, "hook_1", WebhookEvent.ASKED, "ann-1", "perm_1", body, waiting, AT, due_at=AT)
    return replace(made, **changes)


@dataclass
class Hand:
    """A clock that the test moves."""

    at: datetime = AT

    def now(self) -> datetime:
        return self.at


@pytest.fixture
async def core(store: Store) -> AsyncGenerator[Core]:
    poster = HttpPoster(["x.example"], resolve=lambda _host, _port: ["93.184.215.14"])
    settings = OperatorSettings(webhook_hosts=("x.example",))
    yield Core(store, LocalBus(), Hand(), NoAgents(), Argon2Passwords(), settings, poster=poster)
    await poster.close()


async def add(store: Store, *deliveries: Delivery) -> None:
    async with store.transaction() as tx:
        await tx.webhooks.add(a_webhook(), "whsec_x")
        await tx.deliveries.add(deliveries)


async def written(store: Store, webhook_id: str = "hook_1") -> list[Delivery]:
    async with store.snapshot() as tx:
        return await tx.deliveries.page(webhook_id, None, None, 100)


async def test_a_webhook_is_read_back_as_it_was_added_until_it_is_removed(store: Store) -> None:
    first = a_webhook("hook_2", events=(WebhookEvent.SETTLED,), agents=("demo", "日本"))
    second = a_webhook("hook_1", created_at=after(1))
    async with store.transaction() as tx:
        await tx.webhooks.add(second, "whsec_2")
        await tx.webhooks.add(first, "whsec_1")
        assert await tx.webhooks.live() == [first, second]
        assert await tx.webhooks.secret("hook_2") == "whsec_1"
        assert await tx.webhooks.remove("hook_2", after(2))
        assert not await tx.webhooks.remove("hook_2", after(3))
        assert await tx.webhooks.live() == [second]
        assert await tx.webhooks.get("hook_2") == replace(first, removed_at=after(2))
        assert await tx.webhooks.get("hook_3") is None
        with pytest.raises(NotFound):
            await tx.webhooks.secret("hook_3")


async def test_a_signing_secret_is_not_in_the_database_in_clear(store: Store, database: Database) -> None:
    async with store.transaction() as tx:
        await tx.webhooks.add(a_webhook(), "whsec_clear")
    async with database.read() as connection:
        (row,) = (await connection.execute(select(webhooks_table))).all()
    assert b"whsec_clear" not in bytes(row.sealed)


async def test_a_delivery_is_read_back_as_it_was_added(store: Store) -> None:
    await add(store, a_delivery())
    async with store.snapshot() as tx:
        assert await tx.deliveries.get("dlv_1") == a_delivery()
        assert await tx.deliveries.get("dlv_2") is None


async def test_pages_go_from_the_newest_to_the_oldest_without_a_gap(store: Store) -> None:
    of_one_moment = [a_delivery(f"dlv_{number}") for number in range(3)]
    later = [a_delivery(f"dlv_a{number}", created_at=after(1), status=DeliveryStatus.FAILED) for number in range(2)]
    await add(store, *of_one_moment, *later, a_delivery("dlv_other", webhook_id="hook_2"))
    seen: list[str] = []
    before: tuple[datetime, str] | None = None
    async with store.snapshot() as tx:
        while page := await tx.deliveries.page("hook_1", None, before, 2):
            seen += [delivery.id for delivery in page]
            before = page[-1].created_at, page[-1].id
        failed = await tx.deliveries.page("hook_1", DeliveryStatus.FAILED, None, 10)
    assert seen == ["dlv_a1", "dlv_a0", "dlv_2", "dlv_1", "dlv_0"]
    assert [delivery.id for delivery in failed] == ["dlv_a1", "dlv_a0"]


async def test_what_is_claimed_is_due_again_only_when_the_claim_ends(store: Store) -> None:
    await add(store, a_delivery("dlv_1"), a_delivery("dlv_2", due_at=after(-1)), a_delivery("dlv_3", due_at=after(1)))
    async with store.transaction() as tx:
        assert await tx.deliveries.due_webhooks(AT) == ["hook_1"]
        claimed = await tx.deliveries.claim("hook_1", AT, after(30), 10)
        assert [(one.id, one.attempts, one.due_at) for one in claimed] == [
            ("dlv_2", 1, after(30)),
            ("dlv_1", 1, after(30)),
        ]
    async with store.transaction() as tx:
        assert await tx.deliveries.claim("hook_1", AT, after(30), 10) == []
        assert await tx.deliveries.due_webhooks(AT) == []
        assert await tx.deliveries.next_due([]) == after(1)
        assert await tx.deliveries.next_due(["hook_1"]) is None
        again = await tx.deliveries.claim("hook_1", after(30), after(60), 2)
        assert {(one.id, one.attempts) for one in again} == {("dlv_3", 1), ("dlv_1", 2)}


async def test_of_two_senders_one_claims(store: Store) -> None:
    await add(store, *(a_delivery(f"dlv_{number}") for number in range(8)))

    async def claim() -> list[str]:
        async with store.transaction() as tx:
            return [delivery.id for delivery in await tx.deliveries.claim("hook_1", AT, after(30), 4)]

    claimed = [delivery_id for got in await asyncio.gather(*(claim() for _ in range(6))) for delivery_id in got]
    assert len(claimed) == len(set(claimed))
    while more := await claim():
        claimed += more
    assert sorted(claimed) == [f"dlv_{number}" for number in range(8)]


async def test_only_the_holder_of_the_present_claim_writes_what_came_of_it(store: Store) -> None:
    await add(store, a_delivery())
    async with store.transaction() as tx:
        (early,) = await tx.deliveries.claim("hook_1", AT, after(30), 1)
        (late,) = await tx.deliveries.claim("hook_1", after(30), after(60), 1)
        delivered = DeliveryStatus.DELIVERED
        assert not await tx.deliveries.settle(early, delivered, after(31), last_status=200)
        assert await tx.deliveries.settle(
            late, DeliveryStatus.WAITING, after(32), due_at=after(90), last_status=500, last_error="x"
        )
        assert not await tx.deliveries.settle(late, delivered, after(33), last_status=200)
        (last,) = await tx.deliveries.claim("hook_1", after(90), after(120), 1)
        assert (last.attempts, last.last_status, last.last_error) == (3, 500, "x")
        assert await tx.deliveries.settle(last, delivered, after(91), last_status=204)
        settled = await tx.deliveries.get("dlv_1")
        assert settled == a_delivery(status=delivered, attempts=3, due_at=None, last_status=204, delivered_at=after(91))
        assert await tx.deliveries.next_due([]) is None


async def test_a_replayed_delivery_waits_anew_with_all_attempts_before_it(store: Store) -> None:
    await add(store, a_delivery())
    async with store.transaction() as tx:
        (claimed,) = await tx.deliveries.claim("hook_1", AT, after(30), 1)
        assert await tx.deliveries.settle(claimed, DeliveryStatus.FAILED, AT, last_error="x")
        assert await tx.deliveries.replay("dlv_1", after(5))
        assert await tx.deliveries.get("dlv_1") == a_delivery(due_at=after(5))
        assert not await tx.deliveries.replay("dlv_2", after(5))


@pytest.mark.parametrize("role", [Role.OWNER, Role.REVIEWER, Role.AGENT])
async def test_only_admins_have_to_do_with_webhooks(core: Core, role: Role) -> None:
    somebody = Principal("u", "u", role, ("demo",))
    for attempt in (
        webhooks.create(core, somebody, "https://x.example/"),
        webhooks.list_all(core, somebody),
        webhooks.remove(core, somebody, "hook_1"),
        webhooks.list_deliveries(core, somebody, "hook_1"),
        webhooks.replay(core, somebody, "dlv_1"),
    ):
        with pytest.raises(Forbidden):
            await attempt


async def test_without_named_hosts_no_webhook_is_made(store: Store) -> None:
    off = Core(store, LocalBus(), Hand(), NoAgents(), Argon2Passwords())
    with pytest.raises(InvalidInput):
        await webhooks.create(off, ROOT, "https://x.example/")
    assert await webhooks.list_all(off, ROOT) == []


async def test_what_is_told_is_written_with_its_transaction_or_not_at_all(core: Core) -> None:
    webhook, _ = await webhooks.create(core, ROOT, "https://x.example/")
    request = a_request(agent="demo")
    with suppress(ZeroDivisionError):
        async with unit(core) as work:
            await webhooks.enqueue_deliveries(work, WebhookEvent.ASKED, request)
            raise ZeroDivisionError
    assert (await written(core.store, webhook.id), core.delivery_written.is_set()) == ([], False)
    async with unit(core) as work:
        await webhooks.enqueue_deliveries(work, WebhookEvent.ASKED, request)
    (delivery,) = await written(core.store, webhook.id)
    assert (delivery.event, delivery.status, delivery.due_at) == (WebhookEvent.ASKED, DeliveryStatus.WAITING, AT)
    assert core.delivery_written.is_set()


async def test_each_webhook_is_told_what_it_wants_to_know(core: Core) -> None:
    everything, _ = await webhooks.create(core, ROOT, "https://x.example/1")
    settled, _ = await webhooks.create(core, ROOT, "https://x.example/2", events=[WebhookEvent.SETTLED])
    of_mail, _ = await webhooks.create(core, ROOT, "https://x.example/3", agents=["mail"])
    removed, _ = await webhooks.create(core, ROOT, "https://x.example/4")
    await webhooks.remove(core, ROOT, removed.id)
    async with unit(core) as work:
        await webhooks.enqueue_deliveries(work, WebhookEvent.ASKED, a_request(agent="demo"))
    told = {
        webhook.id: len(await written(core.store, webhook.id)) for webhook in (everything, settled, of_mail, removed)
    }
    assert told == {everything.id: 1, settled.id: 0, of_mail.id: 0, removed.id: 0}


async def test_the_payload_shows_the_request_as_people_see_it(core: Core) -> None:
    webhook, _ = await webhooks.create(core, ROOT, "https://x.example/")
    body = QuestionsBody.ask(["Which?"])
    whose: dict[str, Any] = {"agent": "demo", "owner_id": "u-ann"}
    request = a_request("ques_1", body=body, deadline=after(60), **whose)
    settled = RequestSettled(
        request_id=request.id,
        pause_id=request.pause_id,
        kind=request.kind,
        status=RequestStatus.ANSWERED,
        value=QuestionsAnswer(("x",)),
        by="ann",
        source="threads",
        origin=AnswerOrigin.PERSON,
        at=after(1),
    )
    async with unit(core) as work:
        await work.tx.users.add(a_user())
        await webhooks.enqueue_deliveries(work, WebhookEvent.SETTLED, request, settled)
    (delivery,) = await written(core.store, webhook.id)
    assert delivery.body == {
        "id": delivery.id,
        "event": "request.settled",
        "created_at": "2026-11-15T12:00:00.123456Z",
        "data": {
            "request_id": "ques_1",
            "conversation_id": "ann-1",
            "agent": "demo",
            "owner": "ann",
            "type": "clarification",
            "status": "answered",
            "request_data": {"questions": [{"question": "Which?", "options": []}]},
            "created_at": "2026-11-15T12:00:00.123456Z",
            "expires_at": "2026-11-15T12:01:00.123456Z",
            "answered_by": "ann",
            "answered_at": "2026-11-15T12:00:01.123456Z",
            "source": "threads",
            "response": {"answers": ["x"]},
        },
    }


async def test_an_approval_is_told_of_as_a_permission(core: Core) -> None:
    webhook, _ = await webhooks.create(core, ROOT, "https://x.example/")
    async with unit(core) as work:
        await webhooks.enqueue_deliveries(work, WebhookEvent.ASKED, a_request(agent="demo"))
    (delivery,) = await written(core.store, webhook.id)
    data = delivery.body["data"]
    assert (data["type"], data["status"], data["expires_at"]) == ("permission", "pending", None)
    assert "response" not in data


async def test_without_named_hosts_nothing_is_looked_up_or_written(core: Core) -> None:
    webhook, _ = await webhooks.create(core, ROOT, "https://x.example/")
    async with unit(replace(core, settings=OperatorSettings())) as work:
        work.tx = None  # pyright: ignore[reportAttributeAccessIssue]
        await webhooks.enqueue_deliveries(work, WebhookEvent.ASKED, a_request(agent="demo"))
    assert await written(core.store, webhook.id) == []


async def test_a_removed_webhook_leaves_nothing_waiting_and_is_no_longer_there(core: Core) -> None:
    webhook, _ = await webhooks.create(core, ROOT, "https://x.example/")
    async with unit(core) as work:
        await webhooks.enqueue_deliveries(work, WebhookEvent.ASKED, a_request(agent="demo"))
    await webhooks.remove(core, ROOT, webhook.id)
    (delivery,) = await written(core.store, webhook.id)
    assert (delivery.status, delivery.due_at) == (DeliveryStatus.FAILED, None)
    for work_again in (
        webhooks.remove(core, ROOT, webhook.id),
        webhooks.list_deliveries(core, ROOT, webhook.id),
        webhooks.replay(core, ROOT, delivery.id),
    ):
        with pytest.raises(NotFound):
            await work_again


async def test_a_delivery_is_replayed_only_under_its_own_webhook(core: Core) -> None:
    webhook, _ = await webhooks.create(core, ROOT, "https://x.example/")
    async with unit(core) as work:
        await webhooks.enqueue_deliveries(work, WebhookEvent.ASKED, a_request(agent="demo"))
    (delivery,) = await written(core.store, webhook.id)
    with pytest.raises(NotFound):
        await webhooks.replay(core, ROOT, delivery.id, webhook_id="hook_other")
    assert await webhooks.replay(core, SYSTEM, delivery.id) == delivery


async def test_each_request_is_warned_of_once_when_its_time_has_come(core: Core) -> None:
    webhook, _ = await webhooks.create(core, ROOT, "https://x.example/")
    async with core.store.transaction() as tx:
        await tx.threads.add(a_thread())
        await tx.pauses.add(
            a_pause(),
            [
                a_request("perm_1", agent="demo", deadline=after(60), warn_at=after(-1)),
                a_request("perm_2", agent="demo", deadline=after(600), warn_at=after(540)),
                a_request("perm_3", agent="demo"),
                a_request("perm_4", agent="demo", warn_at=AT, status=RequestStatus.ANSWERED),
            ],
        )
    async with core.store.snapshot() as tx:
        assert await tx.requests.next_warning() == after(-1)
    await asyncio.gather(*(webhooks.warn_due(core) for _ in range(4)))
    (delivery,) = await written(core.store, webhook.id)
    assert (delivery.request_id, delivery.event) == ("perm_1", WebhookEvent.EXPIRING)
    async with core.store.snapshot() as tx:
        assert await tx.requests.next_warning() == after(540)
    later = replace(core, clock=Hand(AT + timedelta(minutes=9)))
    assert await webhooks.warn_due(later) == 1
    assert await webhooks.warn_due(later) == 0
    async with core.store.snapshot() as tx:
        assert await tx.requests.next_warning() is None
