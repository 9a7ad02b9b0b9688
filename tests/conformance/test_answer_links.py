"""Pages that take an answer without a sign-in, to which mails lead: over a real mail server, on either database."""

import asyncio
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from interlock.channels.mail import MailKind
from interlock.domain.channel import Channel, NoticeStatus, Preferences, Shows, hashed
from interlock.domain.errors import InvalidInput
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody, ClarificationBody
from interlock.domain.principal import Role
from interlock.domain.request import Request, RequestStatus
from interlock.domain.tap import LINKS_LIVE, TapOutcome, TapResult
from interlock.domain.terms import Step, Terms
from interlock.ports.store import Store
from interlock.services.channels.links import open_link, tap_on_page
from tests.conformance.examples import AT, a_user
from tests.conformance.test_answering_channels import Stage, settle_elsewhere
from tests.conformance.test_channels import Hand, an_address, core_with
from tests.conformance.test_notice_sender import pass_time, sending
from tests.support.chats import CHANNEL, Mail
from tests.support.mail_server import text_of

ASKED, ENDED, LATE, SETTLED = TapOutcome.ASKED_AGAIN, TapOutcome.ENDED, TapOutcome.LATE, TapOutcome.SETTLED
LINK = re.compile(r"https://interlock\.example/answer#([A-Za-z0-9_-]{22})\b")


@dataclass
class Box(Stage):
    """Ann wants such links, and root does not."""

    def links(self, person: str) -> list[str]:
        assert isinstance(self.driver, Mail)
        mails = [one for one in self.driver.server.mails if one["To"] == self.driver.account(person)]
        for one in mails:
            assert LINK.findall(text_of(one)) == LINK.findall(text_of(one, "html"))
        return [link for one in mails for link in LINK.findall(text_of(one))]

    async def linked(self, body: Any = None, terms: Terms | None = None) -> tuple[Request, str]:
        request = await self.asked_and_sent(body, terms)
        return request, self.links("ann")[-1]

    async def tap(self, link: str, page: TapResult, label: str) -> TapResult:
        assert page.message is not None
        (token,) = [one.token for one in page.message.buttons if one.label == label]
        return await tap_on_page(self.core, link, token)


@pytest.fixture
async def box(store: Store) -> AsyncGenerator[Box]:
    mail, core = Mail(), core_with(store, None)
    mail.start()
    try:
        kind = mail.kind()
        settings = {**mail.settings, "answers": "link"}
        core = replace(core, channel_kinds={"mail": kind})
        async with store.transaction() as tx:
            channel = Channel(CHANNEL, "mail", "Mail", Shows.FULL, "low", settings, "root", AT)
            await tx.channels.add(channel, {})
            for one, role in (("ann", Role.OWNER), ("root", Role.ADMIN)):
                await tx.users.add(a_user(f"u-{one}", one, role=role))
                assert await tx.addresses.link(an_address(f"u-{one}", external_id=mail.account(one)))
            await tx.addresses.set_preferences("u-ann", Preferences(answer_links=True))
        async with sending(core):
            yield Box(mail, core)
    finally:
        await mail.stop()


def labels(page: TapResult) -> list[str]:
    return [one.label for one in page.message.buttons] if page.message else []


@pytest.mark.promise("P26", "P29", "P30")
async def test_opening_it_changes_nothing_and_a_yes_takes_two_acts_and_counts_once(box: Box) -> None:
    request, link = await box.linked()
    assert box.links("root") == []
    page = await open_link(box.core, link)
    assert page == await open_link(box.core, link)
    assert (page.outcome, labels(page)) == (ASKED, ["Approve", "Refuse"])
    assert page.message is not None
    assert "notes.txt" in (page.message.text or "")
    # The link itself is no button, and a button no link.
    assert (await tap_on_page(box.core, link, link)).outcome is ENDED
    assert (await open_link(box.core, page.message.buttons[0].token)).outcome is ENDED

    asked = await box.tap(link, page, "Approve")
    assert (asked.outcome, labels(asked)) == (ASKED, ["Yes", "Back"])
    assert await box.status(request) is RequestStatus.PENDING
    assert (await box.tap(link, asked, "Back")).message == page.message
    both = await asyncio.gather(*(box.tap(link, asked, "Yes") for _ in range(4)))
    assert {one.outcome for one in both} <= {SETTLED, LATE}
    _, answer = await box.read(request)
    assert answer is not None
    assert (answer.value, answer.by_id, answer.source) == (ApprovalAnswer("accept"), "u-ann", "mail")
    assert answer.metadata["address_id"] == "addr-u-ann"
    over = await open_link(box.core, link)
    assert (over.outcome, labels(over)) == (LATE, [])
    assert (await box.tap(link, page, "Refuse")).outcome is LATE
    await box.until_all(request, NoticeStatus.EDITED)
    async with box.core.store.snapshot() as tx:
        settled = [one for one in await tx.audit.entries("ann-1", 0, 99) if one.action == "request.answered"]
    assert len(settled) == 1


@pytest.mark.promise("P26")
async def test_what_is_risky_is_refused_there_and_nothing_but_that(box: Box) -> None:
    request, link = await box.linked(ApprovalBody.ask("drop", {"table": "users"}, risk_level="high"))
    page = await open_link(box.core, link)
    assert labels(page) == ["Refuse"]
    assert (await box.tap(link, page, "Refuse")).outcome is SETTLED
    assert await box.status(request) is RequestStatus.ANSWERED


@pytest.mark.promise("P26")
async def test_options_are_buttons_and_what_takes_words_has_no_link(box: Box) -> None:
    request, link = await box.linked(ClarificationBody.ask("Which?", ["one", "two"]))
    asked = await box.tap(link, await open_link(box.core, link), "two")
    assert await box.status(request) is RequestStatus.PENDING
    assert (await box.tap(link, asked, "Yes")).outcome is SETTLED
    before = len(box.links("ann"))
    await box.asked_and_sent(ClarificationBody.ask("Why?", []))
    assert len(box.links("ann")) == before


@pytest.mark.promise("P26", "P30")
async def test_a_link_ends_with_its_day_its_question_and_its_persons_wish(box: Box) -> None:
    request, link = await box.linked()
    page = await open_link(box.core, link)
    other, second = await box.linked()
    theirs = await open_link(box.core, second)
    assert (await box.tap(link, theirs, "Refuse")).outcome is ENDED

    async with box.core.store.transaction() as tx:
        await tx.addresses.set_preferences("u-ann", Preferences())
    assert (await open_link(box.core, link)).outcome is ENDED
    assert (await box.tap(link, page, "Refuse")).outcome is ENDED
    async with box.core.store.transaction() as tx:
        await tx.addresses.set_preferences("u-ann", Preferences(answer_links=True))
        await tx.users.set_disabled("u-ann", AT)
    assert (await box.tap(link, page, "Refuse")).outcome is ENDED
    async with box.core.store.transaction() as tx:
        await tx.users.set_disabled("u-ann", None)
        await tx.routes.set_terms(request.id, Terms((Step(("person:u-root",)),)))
    assert (await box.tap(link, await open_link(box.core, link), "Approve")).outcome is ASKED
    asked = await box.tap(link, page, "Approve")
    assert (await box.tap(link, asked, "Yes")).outcome is TapOutcome.NOT_ELIGIBLE

    await settle_elsewhere(box.core, other)
    late = await open_link(box.core, second)
    assert (late.outcome, "root" in late.text) == (LATE, True)
    assert isinstance(box.core.clock, Hand)
    pass_time(box.core, LINKS_LIVE.total_seconds() - 1)
    assert (await open_link(box.core, link)).outcome is ASKED
    box.core.clock.at += timedelta(seconds=1)
    assert (await open_link(box.core, link)).outcome is ENDED
    assert (await box.tap(link, page, "Refuse")).outcome is ENDED
    assert await box.status(request) is RequestStatus.PENDING


@pytest.mark.promise("P30")
@pytest.mark.parametrize("given", ["", "x" * 22, "\ud800", "../.."])
async def test_what_was_never_a_link_is_none(box: Box, given: str) -> None:
    _, link = await box.linked()
    assert (await open_link(box.core, given)).outcome is ENDED
    assert (await tap_on_page(box.core, link, given)).outcome is ENDED
    async with box.core.store.snapshot() as tx:
        row = await tx.notices.token(hashed(link))
    assert row is not None
    assert link not in repr(row)


async def test_an_admin_says_whether_there_are_such_links_at_all(box: Box) -> None:
    kind = MailKind(["127.0.0.1"], "interlock.example")
    given = {"host": "127.0.0.1", "security": "none", "sender": "i@x.example"}
    assert "answers" not in kind.read_settings({**given, "answers": "page"}, {})
    assert kind.read_settings({**given, "answers": "link"}, {})["answers"] == "link"
    with pytest.raises(InvalidInput):
        kind.read_settings({**given, "answers": "yes"}, {})
    _, link = await box.linked()
    page = await open_link(box.core, link)
    strict = replace(box.core, channel_kinds={"mail": kind})
    async with strict.store.transaction() as tx:
        await tx.channels.remove(CHANNEL, AT)
    assert (await open_link(strict, link)).outcome is ENDED
    assert (await box.tap(link, page, "Refuse")).outcome is ENDED
