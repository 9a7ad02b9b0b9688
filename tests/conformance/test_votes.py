"""Many votes at once, in many rounds, and levels that several servers want to open: on either database.

`make campaign` is a long run of it: a thousand voters in each of a thousand rounds.
"""

import asyncio
import logging
import os
import random
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from interlock.domain.errors import AlreadySettled, Conflict, Forbidden, StorageUnavailable
from interlock.domain.event import EventData, RequestRouted, RequestSettled
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody, RequestKind
from interlock.domain.principal import Principal, User, principal_of
from interlock.domain.request import Answer, RequestStatus
from interlock.domain.team import Candidate, Group
from interlock.domain.terms import AtEnd, Level, Routing, Step, Terms, VoteCount, places_filled
from interlock.ports.store import Store
from interlock.services.core import Core, unit
from interlock.services.requests import outside
from interlock.services.requests.answering import Reply, Sender, answer
from interlock.services.requests.opening import NewRequest
from interlock.services.requests.outside import Ask
from interlock.services.teams import voting
from interlock.services.teams.claims import claim, delegate, release, withdraw_vote
from interlock.services.teams.groups import set_away
from interlock.services.teams.levels import open_due_levels
from interlock.storage.database import open_database
from interlock.storage.sealing import Sealer, derive
from interlock.storage.store import SqlStore
from tests.conformance.examples import ANN, AT, a_user
from tests.conformance.trails import core_on
from tests.conftest import MASTER_KEY

VOTERS = int(os.environ.get("INTERLOCK_TEST_VOTERS", "24"))
ROUNDS = int(os.environ.get("INTERLOCK_TEST_VOTE_ROUNDS", "4"))
GROUPS = ("group:a", "group:b", "group:c")

log = logging.getLogger(__name__)


@dataclass
class Hand:
    """A clock that the test moves."""

    at: datetime = AT

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
async def servers(store: Store, database_url: str, clock: Hand) -> AsyncGenerator[list[Core]]:
    """On PostgreSQL two servers, each with connections of its own; on SQLite, which one server has, two callers."""
    if database_url.startswith("sqlite"):
        yield [core_on(store, clock), core_on(store, clock)]
        return
    other = open_database(database_url)
    second = SqlStore(other, sealer=Sealer(MASTER_KEY), audit_key=derive(MASTER_KEY, "audit"))
    yield [core_on(store, clock), core_on(second, clock)]
    await other.close()


@pytest.fixture
async def voters(store: Store) -> dict[str, frozenset[int]]:
    """By the id of each, the groups that they are in: some are in several, and ann, who asks, is in all."""
    chance = random.Random(17)
    open_to: dict[str, frozenset[int]] = {}
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        for number in range(VOTERS):
            await tx.users.add(a_user(f"u-{number}", f"voter {number}"))
            open_to[f"u-{number}"] = frozenset(chance.sample(range(3), chance.choice([1, 1, 2])))
        for number, name in enumerate(GROUPS):
            members = [one for one, groups in open_to.items() if number in groups]
            await tx.groups.add(Group(name.removeprefix("group:"), "local", AT, (*members, "u-ann")))
    return open_to


def person(user_id: str) -> Principal:
    name = "ann" if user_id == "u-ann" else user_id.replace("u-", "voter ")
    return principal_of(User(user_id, name, "", ANN.role, AT, AT))


async def ask(core: Core, terms: Terms) -> str:
    """Ann asks, from an agent of her own."""
    async with unit(core) as work:
        what = Ask(RequestKind.APPROVAL, {}, None)
        thread = await outside.lock_conversation(work, ANN, what, "votes")
        asked = await outside.ask_on(work, thread, NewRequest(ApprovalBody.ask("pay", {}), terms=terms))
    return asked.request.id


async def vote(core: Core, user_id: str, request_id: str) -> str:
    while True:
        try:
            done = await answer(core, Sender(person(user_id), "test"), Reply(request_id, {"decision": "accept"}))
        except AlreadySettled:
            return "late"
        except Forbidden:
            return "refused"
        except StorageUnavailable:
            # So many on a busy machine that there is no connection for half a minute: clients try again.
            continue
        return "counted" if done.votes else "settled"


async def refuse(core: Core, user_id: str, request_id: str) -> str:
    done = await answer(core, Sender(person(user_id), "test"), Reply(request_id, {"decision": "reject"}))
    return "counted" if done.votes else "settled"


async def stand_of(core: Core, request_id: str) -> tuple[RequestStatus, VoteCount]:
    """Where the request stands with its votes."""
    async with core.store.snapshot() as tx:
        request = await tx.requests.get(request_id)
        assert request is not None
        thread = await tx.threads.get(request.thread_id)
        assert thread is not None
        votes, _ = await voting.count(tx, thread, request)
    return request.status, votes


async def take_back(core: Core, user_id: str, request_id: str) -> str:
    try:
        await withdraw_vote(core, person(user_id), request_id)
    except (AlreadySettled, Conflict):
        return "kept"
    return "taken back"


def some_terms(chance: random.Random) -> Terms:
    """For one group, or with places for several that somebody may be in at once."""
    if chance.random() < 0.5:
        return Terms((Step(GROUPS, chance.randint(2, 5)),), separate=True)
    steps = [Step((group,), 1) for group in chance.sample(GROUPS, chance.randint(2, 3))]
    return Terms(tuple(steps), separate=True)


def open_steps(terms: Terms, groups: frozenset[int]) -> frozenset[int]:
    named = {GROUPS[number] for number in groups}
    return frozenset(number for number, step in enumerate(terms.steps) if not named.isdisjoint(step.candidates))


@pytest.mark.promise("P18", "P19")
async def test_of_many_votes_at_once_so_many_people_are_counted_and_it_settles_once(
    store: Store, servers: Sequence[Core], voters: dict[str, frozenset[int]]
) -> None:
    chance = random.Random(4)
    for number in range(ROUNDS):
        if number and number % 10 == 0:
            log.info("%d rounds of %d voters", number, VOTERS)
        terms = some_terms(chance)
        request_id = await ask(servers[0], terms)
        casts = [*voters, *chance.sample(sorted(voters), VOTERS // 3), "u-ann"]
        chance.shuffle(casts)
        told = await asyncio.gather(*(vote(chance.choice(servers), one, request_id) for one in casts))
        counts = Counter(told)
        assert counts["settled"] == 1
        outsiders = [one for one, groups in voters.items() if not open_steps(terms, groups)]
        assert {one for one, word in zip(casts, told, strict=True) if word == "refused"} <= {*outsiders, "u-ann"}
        async with store.snapshot() as tx:
            found = (await tx.answers.of_requests([request_id]))[request_id]
            rows = await tx.routes.votes(request_id)
        names = found.by_name.split(", ")
        assert found.value == ApprovalAnswer("accept")
        assert sorted(names) == sorted(one["by"] for one in found.metadata["votes"]) == sorted(one.name for one in rows)
        assert len(set(names)) == len(names)
        assert "ann" not in names
        steps = [open_steps(terms, voters[one.person_id]) for one in rows]
        # All places are filled, and were not before the last one came, whoever that was.
        assert places_filled(terms.steps, steps) == terms.people
        before = [steps[:number] + steps[number + 1 :] for number in range(len(steps))]
        assert any(places_filled(terms.steps, one) < terms.people for one in before)
        if len(terms.steps) == 1:
            assert len(names) == terms.people


@pytest.mark.promise("P18", "P21")
@pytest.mark.parametrize("by", ["level", "delegation", "group"])
async def test_what_fills_the_last_place_without_a_vote_is_no_yes(
    store: Store, servers: Sequence[Core], voters: dict[str, frozenset[int]], clock: Hand, by: str
) -> None:
    """Two of one group said yes, for one place. Then one of them may fill the other place too: it waits for somebody's
    yes, and a no that is not the last one is none."""
    core = servers[0]
    first, second, third = [one for one, groups in sorted(voters.items()) if groups == frozenset({0})][:3]
    other = next(one for one, groups in sorted(voters.items()) if groups == frozenset({1}))
    levels = (Level((f"person:{person(second).name}",), 1),) if by == "level" else ()
    terms = Terms((Step(GROUPS[:1]), Step(GROUPS[1:2])), separate=True, levels=levels, refusals=2)
    request_id = await ask(core, terms)
    assert [await vote(core, one, request_id) for one in (first, second)] == ["counted", "counted"]
    assert (await stand_of(core, request_id))[1].yes == 1
    match by:
        case "level":
            clock.at += timedelta(seconds=1)
            await open_due_levels(servers[1])
        case "delegation":
            await delegate(core, person(other), request_id, person(second).name)
        case _:
            async with store.transaction() as tx:
                await tx.groups.set_members("b", [other, second])
    status, full = await stand_of(core, request_id)
    assert (status, full.yes, full.needed) == (RequestStatus.PENDING, 2, 2)
    assert await refuse(core, third, request_id) == "counted"
    assert (await stand_of(core, request_id))[0] is RequestStatus.PENDING
    assert await vote(servers[1], second, request_id) == "settled"
    async with store.snapshot() as tx:
        given = (await tx.answers.of_requests([request_id]))[request_id]
        request = await tx.requests.get(request_id)
        assert request is not None
        trail = await tx.audit.entries(request.thread_id, 0, 100)
    assert (given.value, given.by_name) == (ApprovalAnswer("accept"), f"{person(first).name}, {person(second).name}")
    assert [one.actor_id for one in trail if one.action == "request.answered"] == [second]


@pytest.mark.promise("P18")
async def test_a_yes_ends_nothing_where_refusals_that_count_again_are_enough(
    store: Store, servers: Sequence[Core], voters: dict[str, frozenset[int]]
) -> None:
    core = servers[0]
    first, second, third = [one for one, groups in sorted(voters.items()) if groups == frozenset({0})][:3]
    async with store.snapshot() as tx:
        group = await tx.groups.get("a")
    assert group is not None
    request_id = await ask(core, Terms((Step(GROUPS[:1], 2),), separate=True, refusals=2))
    assert await refuse(core, first, request_id) == "counted"
    async with store.transaction() as tx:
        await tx.groups.set_members("a", [one for one in group.members if one != first])
    assert await refuse(core, second, request_id) == "counted"
    async with store.transaction() as tx:
        await tx.groups.set_members("a", group.members)
    assert await vote(core, third, request_id) == "counted"
    assert await refuse(core, second, request_id) == "settled"
    async with store.snapshot() as tx:
        given = (await tx.answers.of_requests([request_id]))[request_id]
    assert isinstance(given.value, ApprovalAnswer)
    assert given.value.decision == "reject"
    assert given.by_name == f"{person(first).name}, {person(second).name}"


@pytest.mark.promise("P18")
async def test_a_yes_that_is_taken_back_at_the_same_moment_is_counted_or_not(
    store: Store, servers: Sequence[Core], voters: dict[str, frozenset[int]]
) -> None:
    chance = random.Random(9)
    terms = Terms((Step(GROUPS, 3),), separate=True)
    for _ in range(ROUNDS):
        request_id = await ask(servers[0], terms)
        first, second, *rest = chance.sample(sorted(voters), 5)
        assert [await vote(servers[0], one, request_id) for one in (first, second)] == ["counted", "counted"]
        acts = [vote(chance.choice(servers), one, request_id) for one in rest[:1]]
        acts += [take_back(chance.choice(servers), one, request_id) for one in (first, second)]
        chance.shuffle(acts)
        told = await asyncio.gather(*acts)
        async with store.snapshot() as tx:
            request = await tx.requests.get(request_id)
            rows = await tx.routes.votes(request_id)
        assert request is not None
        is_settled = "settled" in told
        assert is_settled is (told.count("taken back") == 0)
        assert is_settled is (request.status is RequestStatus.ANSWERED)
        assert len(rows) == 3 - told.count("taken back")


@pytest.mark.promise("P21")
@pytest.mark.usefixtures("voters")
@pytest.mark.parametrize("at_end", AtEnd)
async def test_of_several_servers_one_opens_each_level_and_one_comes_to_the_end(
    store: Store, servers: Sequence[Core], clock: Hand, at_end: AtEnd
) -> None:
    for _ in range(ROUNDS):
        terms = Terms((Step(GROUPS[:1], 2),), levels=tuple(Level((one,), 1) for one in GROUPS[1:]), at_end=at_end)
        request_id = await ask(servers[0], terms)
        candidates: Sequence[Candidate] = ()
        log: Sequence[EventData] = ()
        given: Mapping[str, Answer] = {}
        seen: list[int] = []
        for _ in range(3):
            clock.at += timedelta(seconds=1)
            await asyncio.gather(*(open_due_levels(core) for core in [*servers] * 3))
            async with store.snapshot() as tx:
                request = await tx.requests.get(request_id)
                assert request is not None
                assert request.routing is not None
                seen.append(request.routing.level)
                candidates = await tx.routes.of_request(request_id)
                log = [event.data for event in await tx.events.after(request.thread_id, 0, 100)]
                given = await tx.answers.of_requests([request_id])
        assert seen == [1, 2, 2]
        assert [(one.who, one.level) for one in candidates] == [(one, number) for number, one in enumerate(GROUPS)]
        assert [one.level for one in log if isinstance(one, RequestRouted)] == [1, 2]
        assert sum(isinstance(one, RequestSettled) for one in log) == (at_end is not AtEnd.WAIT)
        assert all(one.value != ApprovalAnswer("accept") for one in given.values())


@pytest.mark.promise("P18", "P21")
async def test_a_level_and_the_last_vote_at_one_moment_are_not_both_the_end(
    store: Store, servers: Sequence[Core], voters: dict[str, frozenset[int]], clock: Hand
) -> None:
    """Whichever comes first: a level that opens leaves the votes as they are, and what is settled has no next one."""
    ends: set[tuple[int, str]] = set()
    first, second = sorted(voters)[:2]
    for number in range(ROUNDS * 3):
        levels = (Level(GROUPS[1:2], 1),) if number % 2 else (Level(GROUPS[1:2], 1), Level(GROUPS[2:], 1))
        request_id = await ask(servers[0], Terms((Step(GROUPS, 2),), levels=levels, at_end=AtEnd.REFUSE))
        clock.at += timedelta(seconds=1)
        await open_due_levels(servers[0])
        assert await vote(servers[1], first, request_id) == "counted"
        clock.at += timedelta(seconds=1)
        acts = [vote(servers[number % 2], second, request_id), *(open_due_levels(core) for core in servers)]
        told = await asyncio.gather(*(acts if number % 3 else acts[::-1]))
        async with store.snapshot() as tx:
            request = await tx.requests.get(request_id)
            assert request is not None
            assert request.routing is not None
            log = [event.data for event in await tx.events.after(request.thread_id, 0, 100)]
            answer = (await tx.answers.of_requests([request_id]))[request_id]
        is_settled = "settled" in told
        assert ("late" in told) is not is_settled
        assert answer.value == ApprovalAnswer("accept") if is_settled else "voter" not in answer.by_name
        assert [isinstance(one, RequestSettled) for one in log].count(True) == 1
        opened = [one.level for one in log if isinstance(one, RequestRouted)]
        assert opened == list(range(1, request.routing.level + 1))
        ends.add((len(levels), answer.by_name))
    # With a level left it is decided by those who vote, whoever is quicker.
    assert {by for count, by in ends if count == 2} == {f"{person(first).name}, {person(second).name}"}


@pytest.mark.promise("P20")
async def test_of_many_who_claim_at_once_one_has_it(
    store: Store, servers: Sequence[Core], voters: dict[str, frozenset[int]]
) -> None:
    async def attempt(core: Core, user_id: str) -> str | None:
        try:
            await claim(core, person(user_id), request_id)
        except Conflict:
            return None
        return user_id

    request_id = await ask(servers[0], Terms((Step(GROUPS),), separate=True))
    claimers = await asyncio.gather(*(attempt(servers[n % 2], one) for n, one in enumerate(sorted(voters))))
    (winner,) = {one for one in claimers if one is not None}
    async with store.snapshot() as tx:
        request = await tx.requests.get(request_id)
    assert request is not None
    assert request.routing is not None
    assert request.routing.claimed_by == winner


@pytest.mark.promise("P20", "P21")
@pytest.mark.usefixtures("voters")
async def test_a_level_with_nobody_there_opens_the_next_at_once_and_takes_no_right_away(
    store: Store, servers: Sequence[Core], clock: Hand
) -> None:
    for number in (0, 1):
        await set_away(servers[0], person(f"u-{number}"), AT, AT + timedelta(days=1), None)
    alone = Terms((Step(("person:voter 0",)),))
    levels = (Level(("person:voter 1",), 3600), Level(("person:voter 2",), 3600))
    request_id, only = await ask(servers[0], replace(alone, levels=levels)), await ask(servers[0], alone)
    while await open_due_levels(servers[0]):
        pass
    async with store.snapshot() as tx:
        request, other = await tx.requests.get(request_id), await tx.requests.get(only)
        candidates = [one.who for one in await tx.routes.of_request(request_id)]
    assert request is not None
    assert request.routing is not None
    assert (request.routing.level, request.routing.escalate_at) == (2, None)
    assert candidates == ["person:u-0", "person:u-1", "person:u-2"]
    assert other is not None
    assert other.status is RequestStatus.PENDING
    # Whoever is away and answers all the same is heard.
    assert [await vote(servers[0], "u-0", one) for one in (request_id, only)] == ["settled", "settled"]


@pytest.mark.promise("P20")
async def test_claims_of_many_hold_a_level_for_an_hour_in_all(
    store: Store, servers: Sequence[Core], voters: dict[str, frozenset[int]], clock: Hand
) -> None:
    """Each claims it as the one before lets go, or as its time is over: it opens all the same."""
    terms = Terms((Step(GROUPS[:1]),), levels=(Level(GROUPS[1:2], 60),))
    request_id = await ask(servers[0], terms)
    members = [one for one, groups in sorted(voters.items()) if 0 in groups]
    begun, claims = clock.at, 0
    routing: Routing | None = None
    for number in range(40):
        claimer = person(members[number // 2 % len(members)])
        with suppress(Conflict):
            await claim(servers[number % 2], claimer, request_id)
            claims += 1
        if number % 4 == 3:
            with suppress(Conflict):
                await release(servers[0], claimer, request_id)
        clock.at += timedelta(minutes=2)
        await open_due_levels(servers[number % 2])
        async with store.snapshot() as tx:
            request = await tx.requests.get(request_id)
        assert request is not None
        routing = request.routing
        assert routing is not None
        if routing.level == 1:
            break
    assert claims > 1
    assert routing is not None
    assert routing.level == 1
    assert clock.at - begun <= timedelta(hours=1, minutes=2)
    assert routing.claimer_at(clock.at) is None
