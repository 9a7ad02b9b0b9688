"""Taps against any channel: which tokens there are, what the second act is, and what comes twice or too late."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from interlock.domain.channel import SECOND_ACT_WITHIN, Channel, Message, Preferences, Shows, Tap
from interlock.domain.errors import NotFound
from interlock.domain.kinds import ApprovalAnswer
from interlock.domain.request import Request, RequestStatus
from interlock.domain.tap import TapOutcome, TapResult
from interlock.ports.store import Store
from interlock.services.channels.acts import message_of
from interlock.services.channels.places import abilities_of
from interlock.services.channels.taps import take_tap
from interlock.services.core import Core
from tests.conformance.test_channels import Hand, an_address, ask, core_with, reached
from tests.support.vendor import CHAT_ABILITIES, Vendor

ANN_AT = "u-ann@x"


@pytest.fixture
def vendor() -> Vendor:
    return Vendor()


@pytest.fixture
async def core(store: Store, vendor: Vendor) -> Core:
    core = core_with(store, vendor)
    await reached(core, "ann", "root")
    return core


async def shown(core: Core, request: Request, person: str = "ann", **changes: Any) -> Message:
    """What is sent of it to somebody, on a channel that shows all of it."""
    async with core.store.snapshot() as tx:
        notices = await tx.notices.of_request(request.id)
        channel = await tx.channels.get("chan_1")
    assert channel is not None
    (notice,) = [one for one in notices if one.address_id == f"addr-u-{person}"]
    there = full(channel, **changes)
    return await message_of(core, there, abilities_of(core, there, Preferences()), notice, request, "en")


def full(channel: Channel, **changes: Any) -> Channel:
    return replace(channel, **{"shows": Shows.FULL, **changes})


def token_of(message: Message, label: str) -> str:
    (button,) = [one for one in message.buttons if one.label == label]
    return button.token


async def tap(core: Core, token: str, event_id: str = "e-1", by: str = ANN_AT) -> TapResult:
    return await take_tap(core, "chan_1", Tap(event_id, by, token))


async def status(core: Core, request: Request) -> RequestStatus | None:
    async with core.store.snapshot() as tx:
        found = await tx.requests.get(request.id)
    return found and found.status


@pytest.mark.promise("P30")
async def test_a_notice_that_is_sent_twice_has_the_same_tokens_and_each_notice_others(core: Core) -> None:
    request = await ask(core)
    first, again = await shown(core, request), await shown(core, request)
    assert first.buttons == again.buttons
    other = await shown(core, request, "root")
    mine, theirs = ({one.token for one in message.buttons} for message in (first, other))
    assert (len(mine), len(theirs), mine & theirs) == (2, 2, set())
    assert all(len(one) == 22 for one in mine | theirs)
    elsewhere = await shown(replace(core, token_key=b"another"), request)
    assert not mine & {one.token for one in elsewhere.buttons}


@pytest.mark.promise("P30")
@pytest.mark.parametrize("given", ["", "x" * 22, "../../x", "\ud800"])
async def test_a_token_that_was_never_given_does_nothing(core: Core, given: str) -> None:
    request = await ask(core)
    assert (await tap(core, given)).outcome is TapOutcome.ENDED
    assert await status(core, request) is RequestStatus.PENDING


@pytest.mark.promise("P26", "P30")
async def test_a_channel_that_shows_less_by_now_takes_no_yes_any_more(core: Core) -> None:
    request = await ask(core)
    message = await shown(core, request)
    # The channel as it stands in the database shows headlines only.
    assert (await tap(core, token_of(message, "Approve"))).outcome is TapOutcome.ENDED
    assert await status(core, request) is RequestStatus.PENDING
    result = await tap(core, token_of(message, "Refuse"), "e-2")
    assert (result.outcome, result.text) == (TapOutcome.SETTLED, "Refused")
    assert result.message is not None
    assert (result.message.title, result.message.buttons) == ("Refused", ())


@pytest.mark.promise("P30")
async def test_one_event_is_one_answer_however_often_it_comes_and_whoever_else_is_first(core: Core) -> None:
    request = await ask(core)
    ann, root = await shown(core, request), await shown(core, request, "root")
    taps = [tap(core, token_of(ann, "Refuse")) for _ in range(4)]
    taps += [tap(core, token_of(root, "Refuse"), f"e-{number}", "u-root@x") for number in range(2, 4)]
    outcomes = [one.outcome for one in await asyncio.gather(*taps)]
    # Of an event that comes again its own end is told again; who comes second is told who was first.
    assert set(outcomes) <= {TapOutcome.SETTLED, TapOutcome.LATE}
    assert TapOutcome.SETTLED in outcomes
    assert outcomes.count(TapOutcome.SETTLED) in (1, 4)
    async with core.store.snapshot() as tx:
        settled = [one for one in await tx.audit.entries("ann-1", 0, 99) if one.action == "request.answered"]
    assert len(settled) == 1


@pytest.mark.promise("P30")
async def test_whoever_lost_the_right_or_the_address_changes_nothing(core: Core) -> None:
    request = await ask(core)
    ann, root = await shown(core, request), await shown(core, request, "root")
    async with core.store.transaction() as tx:
        await tx.addresses.switch_off("addr-u-ann", core.clock.now())
        await tx.users.set_disabled("u-root", core.clock.now())
    assert (await tap(core, token_of(ann, "Refuse"))).outcome is TapOutcome.UNLINKED
    assert (await tap(core, token_of(root, "Refuse"), by="u-root@x")).outcome is TapOutcome.UNLINKED
    async with core.store.transaction() as tx:
        await tx.channels.remove("chan_1", core.clock.now())
    with pytest.raises(NotFound):
        await tap(core, token_of(ann, "Refuse"))
    assert await status(core, request) is RequestStatus.PENDING


async def test_who_answers_is_told_in_their_language(core: Core) -> None:
    request = await ask(core)
    message = await shown(core, request)
    async with core.store.transaction() as tx:
        await tx.addresses.set_preferences("u-ann", Preferences(language="zh"))
    assert (await tap(core, token_of(message, "Refuse"))).text == "已拒绝"


@pytest.mark.promise("P26")
async def test_where_a_channel_does_not_ask_again_by_itself_a_yes_takes_two_taps(core: Core, vendor: Vendor) -> None:
    vendor.abilities = replace(CHAT_ABILITIES, confirms=False)
    async with core.store.transaction() as tx:
        # All that is shown is shown whole.
        await tx.channels.remove("chan_1", core.clock.now())
        removed = await tx.channels.get("chan_1")
        assert removed is not None
        channel = full(removed, id="chan_2", removed_at=None)
        await tx.channels.add(channel, {})
        for one in ("ann", "root"):
            await tx.addresses.link(an_address(f"u-{one}", "chan_2"))
    request = await ask(core)
    message = await shown_on(core, request, channel)

    async def tap_there(token: str, event_id: str) -> TapResult:
        return await take_tap(core, "chan_2", Tap(event_id, ANN_AT, token))

    asked = await tap_there(token_of(message, "Approve"), "e-1")
    assert (asked.outcome, asked.text) == (TapOutcome.ASKED_AGAIN, "Approve read_file?")
    assert asked.message is not None
    assert await status(core, request) is RequestStatus.PENDING
    back = await tap_there(token_of(asked.message, "Back"), "e-2")
    assert back.message == message

    again = await tap_there(token_of(message, "Approve"), "e-3")
    assert isinstance(core.clock, Hand)
    core.clock.at += SECOND_ACT_WITHIN
    assert again.message is not None
    late = await tap_there(token_of(again.message, "Yes"), "e-4")
    assert (late.outcome, late.message) == (TapOutcome.ENDED, message)
    assert await status(core, request) is RequestStatus.PENDING

    core.clock.at += timedelta(seconds=1)
    asked = await tap_there(token_of(message, "Approve"), "e-5")
    assert asked.message is not None
    assert (await tap_there(token_of(asked.message, "Yes"), "e-6")).outcome is TapOutcome.SETTLED
    async with core.store.snapshot() as tx:
        answers = await tx.answers.of_requests([request.id])
    assert answers[request.id].value == ApprovalAnswer("accept")


async def shown_on(core: Core, request: Request, channel: Channel) -> Message:
    async with core.store.snapshot() as tx:
        (notice, *_) = [one for one in await tx.notices.of_request(request.id) if one.address_id == "addr-u-ann"]
    return await message_of(core, channel, abilities_of(core, channel, Preferences()), notice, request, "en")
