"""The sender of notices over either database: what is sent, what is not any more, and who waits for whom."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from interlock.domain.channel import MOST_ATTEMPTS, Abilities, Message, Notice, NoticeStatus, Preferences
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody
from interlock.domain.principal import Role
from interlock.domain.request import Request, RequestStatus
from interlock.ports.channels import AddressGone, CutOff, OutOfReach, Refused, Unreachable
from interlock.ports.store import Store
from interlock.services.channels.sender import AT_ONCE, CLAIM, DOWN_FOR, NoticeSender
from interlock.services.core import Core, unit
from interlock.services.requests.opening import NewRequest, new_request, place
from interlock.services.requests.settling import Settlement, settle
from tests.conformance.examples import a_pause, a_thread, a_user
from tests.conformance.test_channels import ANN, Hand, a_channel, an_address, ask, core_with, reached
from tests.support.vendor import CHAT, Vendor

SECONDS = 60.0
DIGEST = 900.0
URL = "https://interlock.example/requests/"
EDITED, SENT, WAITING = NoticeStatus.EDITED, NoticeStatus.SENT, NoticeStatus.WAITING


@pytest.fixture
def vendor() -> Vendor:
    return Vendor()


@pytest.fixture
async def core(store: Store, vendor: Vendor) -> Core:
    core = core_with(store, vendor)
    await reached(core, "ann")
    return core


@asynccontextmanager
async def sending(core: Core, count: int = 1) -> AsyncGenerator[None]:
    """So many senders on one outbox; jitter is none."""
    tasks = [asyncio.create_task(NoticeSender(lambda: 0.0).run(core)) for _ in range(count)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def until(core: Core, request: Request, is_right: Callable[[list[Notice]], bool]) -> list[Notice]:
    async with asyncio.timeout(SECONDS):
        while True:
            async with core.store.snapshot() as tx:
                seen = await tx.notices.of_request(request.id)
            if is_right(seen):
                return seen
            await asyncio.sleep(0.01)


def all_are(status: NoticeStatus) -> Callable[[list[Notice]], bool]:
    return lambda seen: {one.status for one in seen} == {status}


def nothing(seen: list[Notice]) -> bool:
    return seen == []


async def until_in_time(core: Core, request: Request, is_right: Callable[[list[Notice]], bool]) -> list[Notice]:
    """As `until`, while time passes; slowly, so that no claim ends while its holder is at work."""

    def look(seen: list[Notice]) -> bool:
        pass_time(core, 0.5)
        return is_right(seen)

    return await until(core, request, look)


def pass_time(core: Core, seconds: float) -> None:
    assert isinstance(core.clock, Hand)
    core.clock.at += timedelta(seconds=seconds)
    core.notice_written.set()


async def answer(core: Core, request: Request, decision: str = "accept") -> None:
    async with unit(core) as work:
        value = request.check({"decision": decision})
        assert isinstance(value, ApprovalAnswer)
        await settle(work, request, Settlement(RequestStatus.ANSWERED, ANN, "web", value=value))


@pytest.mark.promise("P27", "P28")
async def test_a_notice_is_sent_without_arguments_and_is_told_the_end(core: Core, vendor: Vendor) -> None:
    async with sending(core):
        request = await ask(core)
        (notice,) = await until(core, request, all_are(SENT))
        assert (notice.ref, notice.attempts, notice.due_at) == ("ref-1", 0, None)
        await answer(core, request)
        await until(core, request, all_are(EDITED))
    (sent,) = vendor.sent
    assert (sent.address, sent.message.url) == ("u-ann@x", f"{URL}{request.id}")
    assert (sent.message.id, sent.message.about) == (notice.id, request.id)
    assert [one.label for one in sent.message.buttons] == ["Refuse"]
    assert "secret.txt" not in repr(sent)
    assert "read_file" in repr(sent.message.rows)
    assert [one.title for one in sent.edited] == ["Approved"]
    assert "ann" in repr(sent.edited[0].rows)


@pytest.mark.promise("P27")
async def test_where_nothing_can_be_changed_a_second_message_follows(core: Core, vendor: Vendor) -> None:
    vendor.abilities = Abilities(edits=False, taps=False, confirms=False, longest_text=200)
    async with sending(core):
        request = await ask(core)
        await until(core, request, all_are(SENT))
        await answer(core, request, "reject")
        await until(core, request, all_are(EDITED))
    assert [one.message.about for one in vendor.sent] == [request.id, request.id]
    assert vendor.titles[1] == "Refused"


async def test_what_was_settled_while_it_waited_is_never_sent(core: Core, vendor: Vendor) -> None:
    request = await ask(core)
    await answer(core, request)
    async with sending(core):
        await until(core, request, nothing)
    assert vendor.begun == 0


@pytest.mark.promise("P27")
async def test_an_end_that_comes_while_it_is_being_sent_is_told(core: Core, vendor: Vendor) -> None:
    vendor.gate.clear()
    async with sending(core):
        request = await ask(core)
        await until(core, request, lambda _: vendor.begun == 1)
        await answer(core, request)
        vendor.gate.set()
        await until(core, request, all_are(EDITED))
    assert [one.title for one in vendor.sent[0].edited] == ["Approved"]


async def test_a_request_that_is_gone_with_its_conversation_is_told_as_cancelled(core: Core, vendor: Vendor) -> None:
    async with sending(core):
        request = await ask(core)
        await until(core, request, all_are(SENT))
        async with core.store.transaction() as tx:
            await tx.requests.drop([request.id])
        pass_time(core, 0)
        await until(core, request, all_are(EDITED))
    assert [one.title for one in vendor.sent[0].edited] == ["Cancelled"]


async def test_what_is_refused_is_tried_again_later_and_given_up_in_the_end(core: Core, vendor: Vendor) -> None:
    vendor.errors = [Refused("429") for _ in range(MOST_ATTEMPTS)]
    async with sending(core):
        request = await ask(core)
        for attempt in range(1, MOST_ATTEMPTS):
            (seen,) = await until(core, request, lambda seen, attempt=attempt: seen[0].last_error is not None
                                  and seen[0].attempts == attempt)  # fmt: skip
            assert (seen.status, seen.last_error) == (WAITING, "429")
            pass_time(core, 86_400)
        (seen,) = await until(core, request, all_are(NoticeStatus.FAILED))
    assert (seen.due_at, vendor.begun, vendor.sent) == (None, MOST_ATTEMPTS, [])


@pytest.mark.promise("P27")
async def test_a_vendor_that_is_down_for_a_day_costs_no_attempt_and_gets_all_of_it(core: Core, vendor: Vendor) -> None:
    vendor.errors = [Unreachable("no route") for _ in range(40)]
    async with sending(core):
        request = await ask(core)
        while vendor.errors:
            before = vendor.begun
            pass_time(core, 2_400)
            await until(core, request, lambda _, before=before: vendor.begun > before)
        (seen,) = await until_in_time(core, request, all_are(SENT))
    assert (vendor.begun, len(vendor.sent), seen.attempts) == (41, 1, 0)


async def test_a_channel_that_is_down_delays_itself_only(core: Core, vendor: Vendor) -> None:
    other = Vendor()
    core = replace(core, channel_kinds={CHAT: vendor, "other": other})
    vendor.gate.clear()
    async with core.store.transaction() as tx:
        await tx.channels.add(a_channel("chan_2", kind="other"), {})
        await tx.addresses.link(an_address(channel_id="chan_2", id="addr-other"))
    async with sending(core):
        request = await ask(core)
        seen = await until(core, request, lambda seen: sorted(one.status for one in seen) == [SENT, WAITING])
    assert {one.channel_id: one.status for one in seen} == {"chan_1": WAITING, "chan_2": SENT}


async def test_an_address_that_is_out_of_reach_waits_alone_and_counts_no_attempt(core: Core, vendor: Vendor) -> None:
    async with core.store.transaction() as tx:
        await tx.users.add(a_user("u-bob", "bob", role=Role.ADMIN))
        await tx.addresses.link(an_address("u-bob"))
    vendor.errors = [OutOfReach("no route")]
    async with sending(core):
        request = await ask(core)
        seen = await until(core, request, lambda seen: sorted(one.status for one in seen) == [SENT, WAITING])
        (waiting,) = [one for one in seen if one.status is WAITING]
        assert (waiting.attempts, waiting.due_at) == (0, core.clock.now() + DOWN_FOR[-1])
        pass_time(core, DOWN_FOR[-1].total_seconds())
        await until(core, request, all_are(SENT))
    assert vendor.begun == 3


async def test_an_address_that_is_gone_is_switched_off(core: Core, vendor: Vendor) -> None:
    vendor.errors = [AddressGone("blocked")]
    async with sending(core):
        request = await ask(core)
        await until(core, request, all_are(NoticeStatus.GONE))
    async with core.store.snapshot() as tx:
        (address,) = await tx.addresses.of_user("u-ann")
    assert address.off_at is not None


@pytest.mark.promise("P27")
async def test_a_sender_that_died_is_replaced_and_what_may_have_arrived_is_told_its_end(
    core: Core, vendor: Vendor
) -> None:
    request = await ask(core)
    async with core.store.transaction() as tx:
        # Claimed by one that nobody heard of again.
        await tx.notices.claim("chan_1", core.clock.now(), core.clock.now() + CLAIM, 1)
    await answer(core, request)
    async with sending(core):
        pass_time(core, CLAIM.total_seconds())
        await until(core, request, all_are(EDITED))
    assert vendor.titles == ["Approved"]


async def test_what_was_cut_off_is_sent_again_under_the_same_id(core: Core, vendor: Vendor) -> None:
    vendor.errors = [CutOff("lost")]
    async with sending(core):
        request = await ask(core)
        (seen,) = await until_in_time(core, request, all_are(SENT))
    assert [one.message.id for one in vendor.sent] == [seen.id]


async def ask_several(core: Core, *risks: str) -> list[Request]:
    """Of somebody who wants digests every quarter of an hour."""
    thread, pause = a_thread(), a_pause()
    async with unit(core) as work:
        await work.tx.addresses.set_preferences("u-ann", Preferences(digest=15))
        await work.tx.threads.add(thread)
        await work.tx.threads.lock(thread.id)
        bodies = [
            ApprovalBody.ask(f"tool_{position}", {"path": "secret.txt"}, risk_level=risk)
            for position, risk in enumerate(risks)
        ]
        made = [
            new_request(core.settings, work.now, thread, pause, position, NewRequest(body))
            for position, body in enumerate(bodies)
        ]
        await place(work, thread, pause, made)
    return made


def drawn(message: Message) -> list[str]:
    """What is said of each request, by the order in which they were asked: all of them at one moment."""
    return [row.label for row in sorted(message.rows, key=lambda row: row.value[row.value.index("tool_") :])]


async def until_each(core: Core, requests: list[Request], is_right: Callable[[list[Notice]], bool]) -> None:
    for one in requests:
        await until(core, one, is_right)


@pytest.mark.promise("P27", "P28")
async def test_what_has_low_risk_is_told_in_one_message_that_tells_each_end(core: Core, vendor: Vendor) -> None:
    async with sending(core, 2):
        high, early, *low = await ask_several(core, "high", "low", "low", "low")
        await until(core, high, all_are(SENT))
        await answer(core, early)
        pass_time(core, DIGEST)
        await until_each(core, low, all_are(SENT))
        await until(core, early, nothing)
        _, sent = vendor.sent
        assert (sent.message.url, sent.message.buttons) == ("https://interlock.example/", ())
        assert sent.message.title == "Requests that wait for an answer: 2"
        assert drawn(sent.message) == ["Approval", "Approval"]
        assert "secret.txt" not in repr(sent)
        await answer(core, low[0], "reject")
        await until(core, low[0], all_are(EDITED))
        await until(core, low[1], all_are(SENT))
        assert drawn(sent.edited[0]) == ["Refused", "Approval"]
        # Both of them end: neither edit undoes what the other has drawn.
        await answer(core, low[1])
        await until(core, low[1], all_are(EDITED))
    assert drawn(sent.edited[-1]) == ["Refused", "Approved"]
    assert sent.edited[-1].title == "All of these requests have ended"
    assert (len(vendor.sent), len({sent.message.id, *[one.id for one in sent.edited]})) == (2, 3)


async def test_what_ends_while_a_digest_is_being_changed_is_told_after_it(core: Core, vendor: Vendor) -> None:
    async with sending(core, 2):
        low = await ask_several(core, "low", "low", "low")
        pass_time(core, DIGEST)
        await until_each(core, low, all_are(SENT))
        vendor.gate.clear()
        await answer(core, low[0])
        await until(core, low[0], lambda _: vendor.begun == 2)
        await answer(core, low[1])
        await until(core, low[1], lambda seen: seen[0].due_at is not None and seen[0].due_at > core.clock.now())
        assert vendor.begun == 2
        vendor.gate.set()
        await until_each(core, low[:2], all_are(EDITED))
    (sent,) = vendor.sent
    assert [drawn(one) for one in sent.edited] == [
        ["Approved", "Approval", "Approval"],
        ["Approved", "Approved", "Approval"],
    ]


@pytest.mark.promise("P27")
async def test_a_digest_whose_sender_died_is_sent_once_more_under_its_id(core: Core, vendor: Vendor) -> None:
    vendor.abilities = Abilities(edits=False, taps=False, confirms=False, longest_text=200)
    low = await ask_several(core, "low", "low")
    pass_time(core, DIGEST)
    now = core.clock.now()
    async with core.store.transaction() as tx:
        assert await tx.notices.claim("chan_1", now, now + CLAIM, 9) == []
        (claimed,) = await tx.notices.claim_digests("chan_1", now, now + CLAIM, 9)
        assert await tx.notices.claim_digests("chan_1", now, now + CLAIM, 9) == []
    assert len(claimed) == 2
    await answer(core, low[0])
    vendor.errors = [Refused("429"), Unreachable("no route")]
    async with sending(core, 2):
        pass_time(core, CLAIM.total_seconds())
        await until(core, low[1], lambda seen: seen[0].last_error == "429")
        pass_time(core, 86_400)
        await until_in_time(core, low[1], all_are(SENT))
        await until(core, low[0], all_are(EDITED))
        # Where nothing can be changed, the whole of it follows.
        await answer(core, low[1])
        await until(core, low[1], all_are(EDITED))
    first, second = [one.message for one in vendor.sent]
    assert {first.about, second.about} == {claimed[0].digest}
    assert [drawn(one) for one in (first, second)] == [
        ["Approved", "Approval"],
        ["Approved", "Approved"],
    ]


async def test_a_digest_of_one_is_a_notice_as_any_other(core: Core, vendor: Vendor) -> None:
    async with sending(core):
        (low,) = await ask_several(core, "low")
        pass_time(core, DIGEST)
        await until(core, low, all_are(SENT))
    assert [one.label for one in vendor.sent[0].message.buttons] == ["Refuse"]


async def test_so_many_at_once_and_each_by_one_of_two_senders(core: Core, vendor: Vendor) -> None:
    vendor.gate.clear()
    people = [f"p{number}" for number in range(2 * AT_ONCE + 1)]
    async with core.store.transaction() as tx:
        for one in people:
            await tx.users.add(a_user(f"u-{one}", one, role=Role.ADMIN))
            await tx.addresses.link(an_address(f"u-{one}"))
    async with sending(core):
        request = await ask(core)
        await until(core, request, lambda _: vendor.begun == AT_ONCE)
        async with sending(core):
            await until(core, request, lambda _: vendor.begun == 2 * AT_ONCE)
            vendor.gate.set()
            await until(core, request, all_are(SENT))
    assert sorted(one.address for one in vendor.sent) == sorted(f"u-{one}@x" for one in [*people, "ann"])
