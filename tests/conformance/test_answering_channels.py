"""What has to hold on every channel, on each of them: what people are told there, and which of their answers count."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from interlock.domain.channel import Channel, NoticeStatus, Shows
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody, ClarificationBody
from interlock.domain.principal import Principal, Role
from interlock.domain.request import Answer, Request, RequestStatus
from interlock.domain.showing import shown_digest
from interlock.domain.terms import Step, Terms
from interlock.ports.store import Store
from interlock.services.channels import addresses
from interlock.services.channels.receiver import HELD_FOR, Receiver
from interlock.services.channels.sender import CLAIM
from interlock.services.core import Core, unit
from interlock.services.requests.opening import NewRequest, new_request, place
from interlock.services.requests.settling import Settlement, settle
from tests.conformance.examples import AT, a_pause, a_thread, a_user
from tests.conformance.test_channels import Hand, an_address, core_with
from tests.conformance.test_notice_sender import pass_time, sending
from tests.support.chats import CHANNEL, Browsers, Chat, Driver, Feishu, Mail, Ntfy, Slack, until

ROOT = Principal("u-root", "root", Role.ADMIN)
ARGUMENT = "notes.txt"
CHATS: list[Callable[[], Chat]] = [
    lambda: Slack("socket"),
    lambda: Slack("http"),
    lambda: Feishu("socket"),
    lambda: Feishu("http"),
]
NAMES = ["slack-socket", "slack-http", "feishu-socket", "feishu-http"]
# Browsers have a folder of the test; Apprise does not say that an address is gone.
SAYING_GONE: list[Any] = ["web-push", Mail, *CHATS]
TOLD: list[Any] = ["apprise", *SAYING_GONE]
TOLD_NAMES = ["apprise", "web-push", "mail", *NAMES]


@dataclass
class Stage:
    driver: Driver
    core: Core
    asked: int = 0

    @property
    def chat(self) -> Chat:
        assert isinstance(self.driver, Chat)
        return self.driver

    async def ask(self, body: Any = None, terms: Terms | None = None) -> Request:
        """Ask, each time on a pause of its own."""
        self.asked += 1
        thread, pause = a_thread(), a_pause(f"pause-{self.asked}")
        asked = body or ApprovalBody.ask("read_file", {"path": ARGUMENT}, risk_level="low")
        core = self.core
        async with unit(core) as work:
            if await work.tx.threads.get(thread.id) is None:
                await work.tx.threads.add(thread)
            thread = await work.tx.threads.lock(thread.id) or thread
            request = new_request(core.settings, work.now, thread, pause, 0, NewRequest(asked, terms=terms))
            await place(work, thread, pause, [request])
        return request

    async def read(self, request: Request) -> tuple[Request | None, Answer | None]:
        async with self.core.store.snapshot() as tx:
            return await tx.requests.get(request.id), (await tx.answers.of_requests([request.id])).get(request.id)

    async def status(self, request: Request) -> RequestStatus:
        found, _ = await self.read(request)
        assert found is not None
        return found.status

    async def until_all(self, request: Request, status: NoticeStatus) -> None:
        async with asyncio.timeout(60):
            while True:
                async with self.core.store.snapshot() as tx:
                    if {one.status for one in await tx.notices.of_request(request.id)} == {status}:
                        return
                await asyncio.sleep(0.01)

    async def until_idle(self, request: Request) -> None:
        """Until none of its notices is claimed."""
        async with asyncio.timeout(60):
            while True:
                async with self.core.store.snapshot() as tx:
                    found = await tx.notices.of_request(request.id)
                if all(one.due_at != self.core.clock.now() + CLAIM for one in found):
                    return
                await asyncio.sleep(0.01)

    async def asked_and_sent(self, body: Any = None, terms: Terms | None = None) -> Request:
        request = await self.ask(body, terms)
        await self.until_all(request, NoticeStatus.SENT)
        return request


@asynccontextmanager
async def receiving(core: Core, *, is_needed: bool = True) -> AsyncGenerator[asyncio.Task[None] | None]:
    if not is_needed:
        yield None
        return
    task = asyncio.create_task(Receiver(0.02).run(core))
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def staged(driver: Driver, store: Store, *, shows: Shows = Shows.FULL) -> AsyncGenerator[Stage]:
    """Ann, whose conversation it is, and root, an admin, have an address on the channel."""
    core = core_with(store, None)
    driver.clock = core.clock
    driver.start()
    try:
        kind = driver.name.removesuffix("-socket").removesuffix("-http")
        core = replace(core, channel_kinds={kind: driver.kind()})
        async with store.transaction() as tx:
            channel = Channel(CHANNEL, kind, "Chat", shows, "low", driver.settings, "root", AT)
            await tx.channels.add(channel, driver.credentials)
            for one, role in (("ann", Role.OWNER), ("root", Role.ADMIN)):
                await tx.users.add(a_user(f"u-{one}", one, role=role))
                assert await tx.addresses.link(an_address(f"u-{one}", external_id=driver.account(one)))
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(sending(core))
            listens = isinstance(driver, Chat) and driver.is_listening
            await stack.enter_async_context(receiving(core, is_needed=listens))
            yield Stage(driver, core)
        assert list(driver.wrong) == []
    finally:
        await driver.stop()


@pytest.fixture(params=CHATS, ids=NAMES)
async def stage(request: pytest.FixtureRequest, store: Store) -> AsyncGenerator[Stage]:
    make = cast("Callable[[], Chat]", request.param)
    async with staged(make(), store) as made:
        yield made


@pytest.fixture(params=TOLD, ids=TOLD_NAMES)
async def telling(request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> AsyncGenerator[Stage]:
    make: Any = {"web-push": lambda: Browsers(tmp_path), "apprise": Ntfy}.get(request.param, request.param)
    async with staged(cast("Driver", make()), store, shows=Shows.HEADLINE) as made:
        yield made


async def settle_elsewhere(core: Core, request: Request, decision: str = "reject") -> None:
    async with unit(core) as work:
        value = request.check({"decision": decision})
        assert isinstance(value, ApprovalAnswer)
        await settle(work, request, Settlement(RequestStatus.ANSWERED, ROOT, "web", value=value))


@pytest.mark.promise("P27", "P28")
async def test_everybody_who_is_asked_is_told_without_arguments_and_told_the_end_wherever_it_came_from(
    telling: Stage,
) -> None:
    request, driver = await telling.asked_and_sent(), telling.driver
    assert all("read_file" in driver.words(one)[0] for one in ("ann", "root"))
    await settle_elsewhere(telling.core, request)
    await telling.until_all(request, NoticeStatus.EDITED)
    for one in ("ann", "root"):
        assert "Refused" in driver.words(one)[-1]
        assert "root" in driver.words(one)[-1]
        assert ARGUMENT not in "".join(driver.words(one))
    if isinstance(driver, Chat):
        assert [driver.labels(one) for one in ("ann", "root")] == [[], []]


@pytest.mark.promise("P27")
async def test_a_vendor_that_is_down_for_a_day_loses_nothing(telling: Stage) -> None:
    driver, core = telling.driver, telling.core
    driver.fail(7)
    request = await telling.ask()
    tries = [0]

    def is_told() -> bool:
        return all(driver.words(one) for one in ("ann", "root"))

    while not is_told():
        # Time passes only while nothing is under way: that would count as lost with its sender.
        await until(lambda: driver.tries() > tries[-1] or is_told())
        await telling.until_idle(request)
        tries.append(driver.tries())
        pass_time(core, 7 * 3600)
    await telling.until_all(request, NoticeStatus.SENT)
    assert core.clock.now() - AT >= timedelta(days=1)
    async with telling.core.store.snapshot() as tx:
        assert {one.attempts for one in await tx.notices.of_request(request.id)} == {0}


@pytest.mark.parametrize("telling", SAYING_GONE, ids=TOLD_NAMES[1:], indirect=True)
async def test_an_address_that_its_vendor_does_not_know_any_more_is_switched_off(telling: Stage) -> None:
    async with telling.core.store.transaction() as tx:
        await tx.addresses.unlink("addr-u-root")
    telling.driver.forget()
    await telling.until_all(await telling.ask(), NoticeStatus.GONE)
    async with telling.core.store.snapshot() as tx:
        (address,) = await tx.addresses.of_user("u-ann")
    assert address.off_at is not None
    if isinstance(telling.driver, Chat):
        # Nothing of hers counts from there, until she links it again.
        assert telling.driver.words("ann") == []


@pytest.mark.promise("P26", "P30")
async def test_a_low_risk_that_was_shown_whole_is_approved_once_by_whom_it_was_sent_to(stage: Stage) -> None:
    chat, core = stage.chat, stage.core
    request = await stage.asked_and_sent()
    assert ARGUMENT in chat.words("ann")[0]
    assert chat.labels("ann") == chat.labels("root") == ["Approve", "Refuse"]
    # Drawn before: what stood there then comes later.
    late = chat.draw_tap("root", "Refuse")

    await chat.tap(core, "ann", "Approve", by="eve")
    await until(lambda: len(chat.told) == 1)
    await chat.tap(core, "ann", "Approve", by="root")
    await until(lambda: len(chat.told) == 2)
    assert ["Link your account" in chat.told[0], "somebody else" in chat.told[1]] == [True, True]
    assert await stage.status(request) is RequestStatus.PENDING

    tapped = await chat.tap(core, "ann", "Approve")
    _, answer = await stage.read(request)
    assert answer is not None
    assert (answer.value, answer.by_id, answer.source) == (ApprovalAnswer("accept"), "u-ann", chat.name.split("-")[0])
    assert answer.metadata["address_id"] == "addr-u-ann"
    assert answer.metadata["digest_shown"] == shown_digest(request)
    await stage.until_all(request, NoticeStatus.EDITED)
    assert all("Approved" in chat.words(one)[-1] and chat.labels(one) == [] for one in ("ann", "root"))

    before = len(chat.told)
    await chat.arrive(core, tapped)
    await chat.arrive(core, late)
    await until(lambda: any("over before" in one for one in chat.told[before:]))
    (said,) = [one for one in chat.told[before:] if "over before" in one]
    assert all(part in said for part in ("Approved", "ann", chat.name.split("-")[0], "2026-11-15"))
    async with core.store.snapshot() as tx:
        settled = [one for one in await tx.audit.entries("ann-1", 0, 99) if one.action == "request.answered"]
    assert len(settled) == 1


@pytest.mark.promise("P26", "P30")
async def test_what_is_risky_is_refused_there_and_nothing_but_that(stage: Stage) -> None:
    request = await stage.asked_and_sent(ApprovalBody.ask("drop", {"table": "users"}, risk_level="high"))
    assert stage.chat.labels("ann") == ["Refuse"]
    assert "whole" in stage.chat.words("ann")[0]
    await stage.chat.tap(stage.core, "ann", "Refuse")
    _, answer = await stage.read(request)
    assert answer is not None
    assert answer.value == ApprovalAnswer("reject")
    await stage.until_all(request, NoticeStatus.EDITED)
    assert "Refused" in stage.chat.words("ann")[-1]


@pytest.mark.promise("P30")
async def test_options_are_buttons_and_who_is_kept_out_by_then_answers_nothing(stage: Stage) -> None:
    request = await stage.asked_and_sent(ClarificationBody.ask("Which?", ["one", "two"]))
    assert stage.chat.labels("ann") == ["one", "two"]
    async with stage.core.store.transaction() as tx:
        await tx.users.set_disabled("u-root", AT)
    await stage.chat.tap(stage.core, "root", "one")
    await until(lambda: len(stage.chat.told) == 1)
    assert await stage.status(request) is RequestStatus.PENDING
    await stage.chat.tap(stage.core, "ann", "two")
    _, answer = await stage.read(request)
    assert answer is not None
    assert answer.value.to_json() == {"answer": "two"}


@pytest.mark.promise("P26", "P30")
async def test_what_is_put_to_others_meanwhile_is_not_answered_by_an_old_button(stage: Stage) -> None:
    request = await stage.asked_and_sent(terms=Terms((Step(("person:ann",)),)))
    async with stage.core.store.transaction() as tx:
        await tx.routes.set_terms(request.id, Terms((Step(("person:u-ann",)), Step(("person:u-root",)))))
    await stage.chat.tap(stage.core, "ann", "Approve")
    await until(lambda: len(stage.chat.told) == 1)
    assert "does nothing any more" in stage.chat.told[0]
    assert await stage.status(request) is RequestStatus.PENDING


async def test_an_account_is_linked_by_the_code_that_comes_from_it_and_by_nothing_else(stage: Stage) -> None:
    core, chat = stage.core, stage.chat
    async with core.store.transaction() as tx:
        await tx.users.add(a_user("u-bob", "bob", role=Role.ADMIN))
    begun = await addresses.begin_link(core, Principal("u-bob", "bob", Role.ADMIN), CHANNEL)
    assert begun.to_send is not None
    for text in ("hello", "ABCD2345", begun.to_send[:-1]):
        await chat.arrive(core, chat.draw_words("bob", text))
    await until(lambda: len(chat.replies()) == 3)
    said = chat.draw_words("bob", f" {begun.to_send.lower()} ")
    await chat.arrive(core, said)
    await chat.arrive(core, said)
    await chat.arrive(core, chat.draw_words("eve", begun.to_send))
    async with core.store.snapshot() as tx:
        (linked,) = await tx.addresses.of_user("u-bob")
        assert await tx.addresses.by_external(CHANNEL, chat.account("eve")) is None
    assert linked.external_id == chat.account("bob")
    await until(lambda: any("bob in Interlock" in one for one in chat.replies()))


@pytest.mark.promise("P31")
# The vendors of the others call back, whichever server they reach.
@pytest.mark.parametrize("stage", CHATS[::2], ids=NAMES[::2], indirect=True)
async def test_one_server_holds_the_connection_and_another_takes_it_over(stage: Stage) -> None:
    chat, core = stage.chat, stage.core
    await until(lambda: chat.count_connections() == 1)
    assert isinstance(core.clock, Hand)
    async with core.store.transaction() as tx:
        # Of a server that died with it, and of one that takes its place when that has run out.
        first = await tx.channels.get(CHANNEL)
        assert first is not None
        await tx.channels.add(replace(first, id="chan_0", created_at=AT - timedelta(1)), chat.credentials)
        assert await tx.channels.hold("chan_0", "dead", core.clock.now(), core.clock.now() + HELD_FOR)
    request = await stage.asked_and_sent()
    async with receiving(core):
        await chat.tap(core, "ann", "Refuse")
        assert await stage.status(request) is RequestStatus.ANSWERED
        async with core.store.transaction() as tx:
            await tx.channels.add(replace(first, id="chan_2"), chat.credentials)
        # Both servers look at all of them in this order: what is held elsewhere was left alone before.
        await until(lambda: chat.count_connections() == 2)
        core.clock.at += HELD_FOR
        await until(lambda: chat.count_connections() == 3)
