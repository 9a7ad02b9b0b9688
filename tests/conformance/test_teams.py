"""Groups, candidates, votes, claims and levels in either database."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from interlock.domain.request import Request, RequestStatus
from interlock.domain.team import Away, Candidate, Comment, Group
from interlock.domain.terms import Level, Routing, Step, Terms, Vote
from interlock.ports.store import Store
from tests.conformance.examples import AT, a_pause, a_request, after, begin

TERMS = Terms((Step(("group:a",), 2),), separate=True, levels=(Level(("group:b",), 9),), excluded=("u-ann",))
ROUTING = Routing(TERMS, 3, "large refunds", 0, after(9))


async def a_routed_request(store: Store, **changes: Any) -> Request:
    request = a_request(routing=replace(ROUTING, **changes))
    async with store.transaction() as tx:
        await begin(tx)
        await tx.pauses.add(a_pause(), [request])
    return request


async def test_a_request_keeps_its_terms_and_the_rule(store: Store) -> None:
    await a_routed_request(store)
    async with store.snapshot() as tx:
        found = await tx.requests.get("perm_1")
    assert found is not None
    assert found.routing == ROUTING


async def test_a_group_has_a_name_and_members_of_its_own(store: Store) -> None:
    async with store.transaction() as tx:
        assert await tx.groups.add(Group("a", "local", AT, ("u-2", "u-1", "u-1")))
        assert not await tx.groups.add(Group("a", "local", AT, ("u-3",)))
        await tx.groups.add(Group("b", "oidc", AT, ("u-1",)))
        assert await tx.groups.get("a") == Group("a", "local", AT, ("u-1", "u-2"))
        assert await tx.groups.get("c") is None
        assert await tx.groups.of_people(["u-1", "u-2", "u-3"]) == {"u-1": {"a", "b"}, "u-2": {"a"}}
        await tx.groups.set_members("a", ["u-3"])
        assert [group.members for group in await tx.groups.all()] == [("u-3",), ("u-1",)]
        assert await tx.groups.remove("a")
        assert not await tx.groups.remove("a")
        assert await tx.groups.of_people(["u-3"]) == {}


async def test_a_candidate_stands_once_for_a_request(store: Store) -> None:
    first = Candidate("perm_1", "group:a", 0, AT)
    async with store.transaction() as tx:
        await tx.routes.add([first, first])
        await tx.routes.add([replace(first, level=1, is_added=True), Candidate("perm_1", "person:u-1", 1, AT, True)])
        await tx.routes.add([])
        found = await tx.routes.of_request("perm_1")
    assert found == [replace(first, is_added=True), Candidate("perm_1", "person:u-1", 1, AT, True)]


async def test_a_person_has_one_vote(store: Store) -> None:
    yes = Vote("perm_1", "u-1", "one", True, AT, "web", None, {"digest_shown": "d"})
    async with store.transaction() as tx:
        await tx.routes.put_vote(yes)
        await tx.routes.put_vote(replace(yes, person_id="u-2", at=after(1)))
        assert await tx.routes.votes("perm_1") == [yes, replace(yes, person_id="u-2", at=after(1))]
        await tx.routes.put_vote(replace(yes, is_yes=False, reason="no"))
        assert await tx.routes.withdraw_vote("perm_1", "u-2")
        assert await tx.routes.votes("perm_1") == [replace(yes, is_yes=False, reason="no")]
        assert await tx.routes.withdraw_vote("perm_1", "u-1")
        assert not await tx.routes.withdraw_vote("perm_1", "u-1")
        assert await tx.routes.votes("perm_1") == []


@pytest.mark.promise("P20")
async def test_a_claim_ends_by_itself_and_holds_the_next_level(store: Store) -> None:
    await a_routed_request(store)
    async with store.transaction() as tx:
        assert await tx.routes.claim("perm_1", "u-1", AT, after(60))
        assert not await tx.routes.claim("perm_1", "u-2", after(59), after(99))
        assert await tx.routes.next_level() == after(60)
        assert not await tx.routes.open_level("perm_1", 1, after(59), None)
        assert await tx.routes.claim("perm_1", "u-2", after(60), after(90))
        assert not await tx.routes.release("perm_1", "u-1")
        assert await tx.routes.release("perm_1", "u-2")
        found = await tx.requests.get("perm_1")
    assert found is not None
    assert found.routing is not None
    assert (found.routing.claimer_at(after(61)), found.routing.claimed_at) == (None, AT)


@pytest.mark.promise("P21")
async def test_a_level_opens_once_and_only_of_what_is_pending(store: Store) -> None:
    await a_routed_request(store)

    async def open_level() -> bool:
        async with store.transaction() as tx:
            return await tx.routes.open_level("perm_1", 1, after(9), after(18))

    async with store.snapshot() as tx:
        assert await tx.routes.due_levels(after(8), 9) == []
        assert [request.id for request in await tx.routes.due_levels(after(9), 9)] == ["perm_1"]
    assert sum(await asyncio.gather(*(open_level() for _ in range(4)))) == 1
    async with store.transaction() as tx:
        assert not await tx.routes.end_levels("perm_1", 0, after(18))
        await tx.requests.settle("perm_1", RequestStatus.CANCELLED, after(18))
        assert not await tx.routes.end_levels("perm_1", 1, after(18))
        assert await tx.routes.next_level() is None


async def test_what_was_said_of_a_request_goes_with_it(store: Store) -> None:
    await a_routed_request(store)
    comment = Comment("c1", "perm_1", "u-1", "one", "why?", AT)
    async with store.transaction() as tx:
        await tx.routes.add([Candidate("perm_1", "group:a", 0, AT)])
        await tx.routes.put_vote(Vote("perm_1", "u-1", "one", True, AT, "web"))
        await tx.routes.add_comment(comment)
        assert await tx.routes.comments("perm_1", 9) == [comment]
        await tx.requests.drop(["perm_1"])
        assert await tx.routes.of_request("perm_1") == []
        assert await tx.routes.votes("perm_1") == []
        assert await tx.routes.comments("perm_1", 9) == []


async def test_somebody_is_away_for_one_time_only(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.routes.set_away(Away("u-1", AT, after(9), "u-2"))
        await tx.routes.set_away(Away("u-1", AT, after(5)))
        assert await tx.routes.aways(["u-1", "u-2"]) == {"u-1": Away("u-1", AT, after(5))}
        assert await tx.routes.end_away("u-1")
        assert not await tx.routes.end_away("u-1")
