"""Channels, addresses and notices, held against `ports.channels`, and what the services write there."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event, select

from interlock.bootstrap import NoAgents
from interlock.bus.local import LocalBus
from interlock.domain.channel import (
    CODE_TRIES,
    Address,
    Channel,
    LinkCode,
    Notice,
    NoticeEnd,
    NoticeStatus,
    NoticeToken,
    Outcome,
    Preferences,
    QuietHours,
    Shows,
    hashed,
)
from interlock.domain.errors import Conflict, Forbidden, InvalidInput, NotFound, RateLimited
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody
from interlock.domain.principal import Principal, Role
from interlock.domain.request import Request, RequestStatus
from interlock.domain.team import Away, Group
from interlock.domain.terms import Level, Step, Terms
from interlock.passwords import Argon2Passwords
from interlock.ports.store import Store
from interlock.services.access.people import delete_person
from interlock.services.channels import addresses, channels
from interlock.services.channels.notices import notify
from interlock.services.core import Core, OperatorSettings, unit
from interlock.services.requests.opening import NewRequest, new_request, place
from interlock.services.requests.settling import Settlement, settle
from interlock.services.teams.levels import open_due_levels
from interlock.storage.database import Database
from interlock.storage.schema import channels as channels_table
from tests.conformance.examples import AT, a_pause, a_request, a_thread, a_user, after, begin
from tests.support.vendor import CHAT, Vendor

ROOT = Principal("u-root", "root", Role.ADMIN)
ANN = Principal("u-ann", "ann", Role.OWNER)
END = NoticeEnd(Outcome.APPROVED, "ann", AT, "web")


@dataclass
class Hand:
    """A clock that the test moves."""

    at: datetime = field(default=AT)

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def vendor() -> Vendor:
    return Vendor()


@pytest.fixture
def core(store: Store, vendor: Vendor) -> Core:
    return core_with(store, vendor)


def core_with(store: Store, vendor: Vendor | None) -> Core:
    settings = OperatorSettings(public_url="https://interlock.example", locale="en")
    kinds = {CHAT: vendor} if vendor else {}
    return Core(store, LocalBus(), Hand(), NoAgents(), Argon2Passwords(), settings, channel_kinds=kinds)


def a_channel(channel_id: str = "chan_1", **changes: Any) -> Channel:
    return replace(Channel(channel_id, CHAT, "Chat", Shows.HEADLINE, "low", {"a": 1}, "root", AT), **changes)


def an_address(person: str = "u-ann", channel_id: str = "chan_1", **changes: Any) -> Address:
    return replace(Address(f"addr-{person}", person, channel_id, f"{person}@x", AT), **changes)


def a_notice(notice_id: str = "note_1", **changes: Any) -> Notice:
    made = Notice(notice_id, "chan_1", f"addr-{notice_id}", "perm_1", NoticeStatus.WAITING, AT, AT)
    return replace(made, **changes)


async def reached(core: Core, *people: str) -> None:
    """People with an address each, on a channel: ann owns, root is admin, and rita reviews."""
    roles = {"root": Role.ADMIN, "rita": Role.REVIEWER}
    async with core.store.transaction() as tx:
        await tx.channels.add(a_channel(), {"token": "hush"})
        for one in people:
            reviews = ("demo",) if one == "rita" else ()
            role = roles.get(one, Role.OWNER)
            await tx.users.add(a_user(f"u-{one}", one, role=role, reviews=reviews))
            assert await tx.addresses.link(an_address(f"u-{one}"))


async def ask(core: Core, terms: Terms | None = None, *, risk: str = "low") -> Request:
    thread, pause = a_thread(), a_pause()
    body = ApprovalBody.ask("read_file", {"path": "secret.txt"}, risk_level=risk)
    async with unit(core) as work:
        if await work.tx.threads.get(thread.id) is None:
            await work.tx.threads.add(thread)
        await work.tx.threads.lock(thread.id)
        request = new_request(core.settings, work.now, thread, pause, 0, NewRequest(body, terms=terms))
        await place(work, thread, pause, [request])
    async with core.store.snapshot() as tx:
        return await tx.requests.get(request.id) or request


async def told(core: Core, request: Request) -> set[str]:
    async with core.store.snapshot() as tx:
        return {one.address_id.removeprefix("addr-u-") for one in await tx.notices.of_request(request.id)}


async def test_a_channel_is_read_back_until_it_is_removed_and_its_credentials_are_sealed(
    store: Store, database: Database
) -> None:
    first, second = a_channel(), a_channel("chan_2", created_at=after(1), shows=Shows.FULL, ceiling="medium")
    async with store.transaction() as tx:
        await tx.channels.add(second, {})
        await tx.channels.add(first, {"token": "in-the-clear"})
        assert await tx.channels.live() == [first, second]
        assert await tx.channels.credentials("chan_1") == {"token": "in-the-clear"}
    async with database.read() as connection:
        rows = (await connection.execute(select(channels_table))).all()
    assert all(b"in-the-clear" not in bytes(row.sealed) for row in rows)
    async with store.transaction() as tx:
        await tx.addresses.link(an_address())
        assert await tx.channels.remove("chan_1", after(2))
        assert not await tx.channels.remove("chan_1", after(3))
        assert await tx.channels.live() == [second]
        assert await tx.channels.get("chan_1") == replace(first, removed_at=after(2))
        assert await tx.channels.credentials("chan_1") == {}
        assert await tx.addresses.of_user("u-ann") == []


async def test_an_address_is_one_persons_and_the_last_one_stands(store: Store) -> None:
    async with store.transaction() as tx:
        assert await tx.addresses.link(an_address())
        assert not await tx.addresses.link(an_address("u-bob", external_id="u-ann@x"))
        assert await tx.addresses.link(an_address("u-bob", channel_id="chan_2", external_id="u-ann@x"))
        moved = an_address(id="addr-2", external_id="new@x")
        assert await tx.addresses.link(moved)
        assert await tx.addresses.of_user("u-ann") == [moved]
        assert await tx.addresses.by_external("chan_1", "u-ann@x") is None
        assert await tx.addresses.switch_off("addr-2", after(1))
        assert not await tx.addresses.switch_off("addr-2", after(2))
        assert await tx.addresses.by_external("chan_1", "new@x") == replace(moved, off_at=after(1))
        assert await tx.addresses.unlink("addr-2")
        assert await tx.addresses.get("addr-2") is None


async def test_codes_and_preferences_take_the_place_of_those_before(store: Store) -> None:
    code = LinkCode("u-ann", "chan_1", "a@x", hashed("ABC"), AT, after(600))
    wanted = Preferences(("chan_1",), QuietHours(time(22), time(7), "Asia/Shanghai", False), "zh")
    async with store.transaction() as tx:
        await tx.addresses.put_code(code)
        await tx.addresses.count_try("u-ann", "chan_1")
        assert await tx.addresses.code_of("u-ann", "chan_1") == replace(code, tries=1)
        await tx.addresses.put_code(code)
        assert await tx.addresses.code_of("u-ann", "chan_1") == code
        await tx.addresses.purge_codes(after(600))
        assert await tx.addresses.drop_code("u-ann", "chan_1")
        assert await tx.addresses.preferences("u-ann") == Preferences()
        for one in (Preferences(), wanted):
            await tx.addresses.set_preferences("u-ann", one)
        assert await tx.addresses.preferences("u-ann") == wanted
        await tx.addresses.forget_of("u-ann")
        assert await tx.addresses.preferences("u-ann") == Preferences()


async def test_a_notice_is_claimed_once_and_recorded_by_the_holder_of_the_present_claim(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.notices.add(
            [a_notice(), a_notice("note_2", address_id="addr-note_1"), a_notice("note_3", due_at=after(9))]
        )
        assert [one.id for one in await tx.notices.of_request("perm_1")] == ["note_1", "note_3"]
        assert await tx.notices.due_channels(AT) == ["chan_1"]
        (early,) = await tx.notices.claim("chan_1", AT, after(30), 10)
        assert (early.id, early.attempts, early.may_have_arrived) == ("note_1", 1, False)
        assert (await tx.notices.next_due([]), await tx.notices.next_due(["chan_1"])) == (after(9), None)
        late = (await tx.notices.claim("chan_1", after(30), after(60), 10))[-1]
        assert (late.id, late.attempts, late.may_have_arrived) == ("note_1", 2, True)
        assert not await tx.notices.settle(early, NoticeStatus.SENT, after(31), ref="x")
        assert await tx.notices.settle(late, NoticeStatus.WAITING, after(31), due_at=after(61), last_error="no")
        (third,) = [one for one in await tx.notices.claim("chan_1", after(61), after(91), 10) if one.id == "note_1"]
        assert (third.may_have_arrived, third.last_error) == (False, "no")
        assert await tx.notices.release(third, after(62))
        (again,) = [one for one in await tx.notices.claim("chan_1", after(62), after(92), 10) if one.id == "note_1"]
        assert again.attempts == 3
        assert await tx.notices.settle(again, NoticeStatus.SENT, after(63), ref="r-1")
        sent = await tx.notices.get("note_1")
        assert sent == a_notice(status=NoticeStatus.SENT, ref="r-1", due_at=None, sent_at=after(63))


@pytest.mark.promise("P27")
async def test_the_end_of_a_request_makes_due_what_was_sent_also_while_it_is_being_sent(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.notices.add([a_notice("note_1"), a_notice("note_2"), a_notice("note_3", due_at=after(600))])
        one, two = await tx.notices.claim("chan_1", AT, after(30), 2)
        assert await tx.notices.settle(one, NoticeStatus.SENT, AT, ref="r-1")
        assert await tx.notices.end("perm_1", END, after(5))
        assert not await tx.notices.end("perm_1", replace(END, by="late"), after(6))
        assert await tx.notices.settle(two, NoticeStatus.SENT, after(7), ref="r-2")
        found = {one.id: one for one in await tx.notices.of_request("perm_1")}
        assert [found[f"note_{number}"].due_at for number in (1, 2, 3)] == [after(5), after(7), after(600)]
        assert {one.end for one in found.values()} == {END}
        (first, _) = await tx.notices.claim("chan_1", after(7), after(37), 4)
        assert await tx.notices.settle(first, NoticeStatus.EDITED, after(8))
        assert await tx.notices.counts(NoticeStatus.EDITED) == {"chan_1": 1}
        assert [one.id for one in await tx.notices.page("chan_1", NoticeStatus.EDITED, 9)] == [first.id]
        (third,) = await tx.notices.claim("chan_1", after(600), after(630), 1)
        assert await tx.notices.drop(replace(third, due_at=after(1))) is False


async def test_what_ended_without_a_word_is_found(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.pauses.add(a_pause(), [a_request()])
        await tx.notices.add([a_notice(), a_notice("note_2", request_id="perm_gone")])
        assert await tx.notices.left_behind(9) == ["perm_gone"]
        assert await tx.requests.settle("perm_1", RequestStatus.CANCELLED, AT)
        assert sorted(await tx.notices.left_behind(9)) == ["perm_1", "perm_gone"]


async def test_tokens_are_found_by_their_hash_and_an_event_is_taken_once(store: Store) -> None:
    token = NoticeToken(hashed("t"), "note_1", "perm_1", "d", "refuse", after(10))
    async with store.transaction() as tx:
        await tx.notices.add_tokens([token])
        assert await tx.notices.token(hashed("t")) == token
        assert await tx.notices.token("t") is None
        assert await tx.notices.take_tap("chan_1", "e-1", AT)
        assert not await tx.notices.take_tap("chan_1", "e-1", after(1))
        assert await tx.notices.take_tap("chan_2", "e-1", AT)
        await tx.notices.add_tokens([replace(token, action="approve")])
        assert await tx.notices.token(hashed("t")) == token
        await tx.notices.purge(after(60))
        assert await tx.notices.token(hashed("t")) is None


@pytest.mark.promise("P31")
async def test_a_connection_is_held_by_one_until_it_is_let_go_or_has_run_out(store: Store) -> None:
    async with store.transaction() as tx:
        hold, let_go = tx.channels.hold, tx.channels.let_go
        assert await hold("chan_1", "one", AT, after(20))
        assert not await hold("chan_1", "two", after(19), after(39))
        assert await hold("chan_2", "two", AT, after(20))
        assert await hold("chan_1", "one", after(10), after(30))
        assert not await hold("chan_1", "two", after(20), after(40))
        assert await hold("chan_1", "two", after(30), after(50))
        assert not await let_go("chan_1", "one")
        assert await let_go("chan_1", "two")
        assert await hold("chan_1", "one", after(31), after(51))


async def test_without_terms_whoever_may_answer_is_told(core: Core) -> None:
    await reached(core, "ann", "bob", "rita", "root")
    assert await told(core, await ask(core)) == {"ann", "rita", "root"}


async def test_with_terms_candidates_are_told_who_are_present_and_did_not_ask(core: Core) -> None:
    await reached(core, "ann", "bob", "carl", "rita", "root")
    async with core.store.transaction() as tx:
        await tx.groups.add(Group("payments", "local", AT, ("u-ann", "u-bob", "u-carl")))
        await tx.routes.set_away(Away("u-carl", AT, after(60)))
    request = await ask(core, Terms((Step(("group:payments",)),), separate=True))
    assert await told(core, request) == {"bob"}


async def test_a_level_tells_those_it_brings_and_nobody_twice(core: Core) -> None:
    await reached(core, "ann", "bob", "carl")
    levels = (Level(("person:carl", "person:bob"), 60),)
    request = await ask(core, Terms((Step(("person:bob",)),), levels=levels))
    assert await told(core, request) == {"bob"}
    assert isinstance(core.clock, Hand)
    core.clock.at += timedelta(seconds=60)
    assert await open_due_levels(core) == 1
    assert await told(core, request) == {"bob", "carl"}
    async with core.store.snapshot() as tx:
        assert len(await tx.notices.of_request(request.id)) == 2


async def test_nobody_is_told_who_does_not_want_it_is_kept_out_or_has_no_address_that_works(core: Core) -> None:
    await reached(core, "ann", "root", "rita")
    async with core.store.transaction() as tx:
        await tx.addresses.set_preferences("u-ann", Preferences(("chan_1",)))
        await tx.users.set_disabled("u-rita", AT)
        await tx.addresses.switch_off("addr-u-root", AT)
    assert await told(core, await ask(core)) == set()


async def test_in_quiet_hours_a_notice_waits_unless_it_is_risky(core: Core) -> None:
    await reached(core, "ann")
    quiet = QuietHours(time(12), time(13))
    async with core.store.transaction() as tx:
        await tx.addresses.set_preferences("u-ann", Preferences(quiet=quiet))
    thread = a_thread()
    for risk, due_at in (("low", quiet.until(AT)), ("high", AT)):
        async with unit(core) as work:
            body = ApprovalBody.ask("read_file", {}, risk_level=risk)
            await notify(work, thread, a_request(f"perm_{risk}", body=body))
        async with core.store.snapshot() as tx:
            (notice,) = await tx.notices.of_request(f"perm_{risk}")
        assert notice.due_at == due_at


@pytest.mark.promise("P27")
async def test_a_notice_is_written_with_what_it_tells_of_or_not_at_all(core: Core) -> None:
    await reached(core, "ann")
    request = await ask(core)
    answered = Settlement(RequestStatus.ANSWERED, ANN, "web", value=ApprovalAnswer("reject"))
    with suppress(ZeroDivisionError):
        async with unit(core) as work:
            await settle(work, request, answered)
            raise ZeroDivisionError
    async with core.store.snapshot() as tx:
        (notice,) = await tx.notices.of_request(request.id)
    assert (notice.status, notice.end) == (NoticeStatus.WAITING, None)
    async with unit(core) as work:
        await settle(work, request, answered)
    async with core.store.snapshot() as tx:
        (notice,) = await tx.notices.of_request(request.id)
    assert notice.end == NoticeEnd(Outcome.REFUSED, "ann", AT, "web")


async def test_without_channels_a_decision_runs_no_statement_more(store: Store) -> None:
    statements: list[str] = []

    def watch(*given: Any) -> None:
        statements.append(given[2])

    event.listen(Engine, "before_cursor_execute", watch)
    core = core_with(store, None)
    async with core.store.transaction() as tx:
        await tx.users.add(a_user())
    request = await ask(core)
    async with unit(core) as work:
        await settle(work, request, Settlement(RequestStatus.CANCELLED, ANN, "web"))
    event.remove(Engine, "before_cursor_execute", watch)
    assert statements
    assert [one for one in statements if any(name in one for name in ("notices", "addresses", "channels"))] == []


async def test_an_address_is_linked_by_the_code_that_came_to_it(core: Core, vendor: Vendor) -> None:
    await reached(core, "root")
    await addresses.begin_link(core, ANN, "chan_1", " Ann@X ")
    (sent,) = vendor.sent
    code = sent.message.title.rpartition(" ")[2]
    assert sent.address == "ann@x"
    with pytest.raises(InvalidInput):
        await addresses.finish_link(core, ROOT, "chan_1", code)
    linked = await addresses.finish_link(core, ANN, "chan_1", code.lower())
    assert (linked.external_id, linked.user_id) == ("ann@x", "u-ann")
    with pytest.raises(InvalidInput):
        await addresses.finish_link(core, ANN, "chan_1", code)
    assert [one.address for one in await addresses.list_reached(core, ANN)] == [linked]
    with pytest.raises(NotFound):
        await addresses.unlink(core, ROOT, linked.id)
    await addresses.unlink(core, ANN, linked.id)
    async with core.store.snapshot() as tx:
        assert [one.action for one in await tx.audit.entries("server", 0, 9)] == ["address.linked", "address.unlinked"]


async def test_a_code_ends_after_some_tries_after_its_time_and_with_the_next(core: Core, vendor: Vendor) -> None:
    await reached(core)
    assert isinstance(core.clock, Hand)
    codes: list[str] = []
    for _ in range(3):
        await addresses.begin_link(core, ANN, "chan_1", "ann@x")
        with pytest.raises(RateLimited):
            await addresses.begin_link(core, ANN, "chan_1", "ann@x")
        codes.append(vendor.titles[-1].rpartition(" ")[2])
        core.clock.at += timedelta(minutes=1)
    with pytest.raises(InvalidInput):
        await addresses.finish_link(core, ANN, "chan_1", codes[0])
    for _ in range(CODE_TRIES - 1):
        with pytest.raises(InvalidInput):
            await addresses.finish_link(core, ANN, "chan_1", "WRONG")
    with pytest.raises(InvalidInput):
        await addresses.finish_link(core, ANN, "chan_1", codes[2])
    await addresses.begin_link(core, ANN, "chan_1", "ann@x")
    core.clock.at += timedelta(minutes=10)
    with pytest.raises(InvalidInput):
        await addresses.finish_link(core, ANN, "chan_1", vendor.titles[-1].rpartition(" ")[2])


async def test_an_address_of_somebody_else_is_not_taken_from_them(core: Core, vendor: Vendor) -> None:
    await reached(core, "bob")
    await addresses.begin_link(core, ANN, "chan_1", "u-bob@x")
    with pytest.raises(Conflict):
        await addresses.finish_link(core, ANN, "chan_1", vendor.titles[-1].rpartition(" ")[2])


async def test_of_two_who_type_the_code_at_once_one_links(core: Core, vendor: Vendor) -> None:
    await reached(core)
    await addresses.begin_link(core, ANN, "chan_1", "ann@x")
    code = vendor.titles[-1].rpartition(" ")[2]
    both = [addresses.finish_link(core, ANN, "chan_1", code) for _ in range(4)]
    done = await asyncio.gather(*both, return_exceptions=True)
    assert sorted(type(one) is Address for one in done) == [False, False, False, True]


async def test_only_admins_set_channels_up_and_agents_have_no_address(core: Core) -> None:
    await reached(core)
    for attempt in (
        channels.create(core, ANN, CHAT, {}, {}),
        channels.list_all(core, ANN),
        channels.list_failed(core, ANN, "chan_1"),
        channels.remove(core, ANN, "chan_1"),
        channels.send_test(core, ANN, "chan_1", "a@x"),
    ):
        with pytest.raises(Forbidden):
            await attempt
    agent = Principal("k-1", "bot", Role.AGENT, on_behalf_of=ANN)
    for attempt in (
        addresses.list_reached(core, agent),
        addresses.begin_link(core, agent, "chan_1", "a@x"),
        addresses.set_preferences(core, agent, [], None, None),
    ):
        with pytest.raises(Forbidden):
            await attempt


async def test_a_removed_channel_sends_nothing_more(core: Core) -> None:
    made = await channels.create(core, ROOT, CHAT, {}, {"token": "x"}, name="Team")
    async with core.store.transaction() as tx:
        await tx.notices.add(
            [a_notice(channel_id=made.id), a_notice("note_2", channel_id=made.id, status=NoticeStatus.SENT)]
        )
    assert [(one.channel, one.waiting, one.failed) for one in await channels.list_all(core, ROOT)] == [(made, 1, 0)]
    await channels.remove(core, ROOT, made.id)
    async with core.store.snapshot() as tx:
        (left,) = await tx.notices.of_request("perm_1")
    assert left.status is NoticeStatus.GONE
    with pytest.raises(NotFound):
        await channels.send_test(core, ROOT, made.id, "a@x")


async def test_whoever_is_deleted_has_no_address_any_more(core: Core) -> None:
    await reached(core, "ann", "root")
    await delete_person(core, ROOT, "ann")
    async with core.store.snapshot() as tx:
        assert await tx.addresses.of_user("u-ann") == []
        assert len(await tx.addresses.of_user("u-root")) == 1


async def test_without_a_kind_of_channel_none_is_made(store: Store) -> None:
    with pytest.raises(InvalidInput):
        await channels.create(core_with(store, None), ROOT, CHAT, {}, {})
