"""People see what is pending, answer it, and are told who was first."""

import asyncio

import pytest

from interlock_client import (
    AlreadySettled,
    Expired,
    Forbidden,
    Interlock,
    InvalidInput,
    InvalidResponse,
    NotFound,
)
from interlock_client.hitl import PendingRequest
from tests.client.asking import Person, asking, until, within


async def test_everything_pending_is_listed_over_its_pages(agent: Interlock, alice: Person) -> None:
    async def ask_all() -> list[str]:
        return await asyncio.gather(*(agent.ask_clarification(f"what is {number}?") for number in range(5)))

    async with asking(ask_all()):
        seen = await alice.sees(agent, 5)
        name = seen[0].agent
        listed = [one async for one in alice.pending(agent=name, type="clarification", page_size=2)]
        assert [one.request_id for one in listed] == [one.request_id for one in seen]
        assert [one async for one in alice.pending(agent=name, type="decision")] == []
        assert [one async for one in alice.pending(agent=name, min_age=1000)] == []


async def test_a_filter_and_a_conversation_are_not_given_together(alice: Person) -> None:
    with pytest.raises(InvalidInput):
        await anext(alice.pending("some-conversation", type="decision"))


async def test_what_is_of_high_risk_can_be_looked_for(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_approval("delete_file", {}, risk_level="critical")):
        [seen] = await alice.sees(agent)
        assert [one async for one in alice.pending(agent=seen.agent, risk="critical")] == [seen]
        assert [one async for one in alice.pending(agent=seen.agent, risk="low")] == []


async def test_a_look_may_wait_for_the_answer(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_clarification("Well?")):
        [seen] = await alice.sees(agent)
        assert (await alice.request(seen.request_id)).status == "pending"
        async with asking(alice.request(seen.request_id, wait=30)) as looking:
            await alice.respond(seen.request_id, answer="yes")
            assert (await within(looking)).response == {"answer": "yes"}


async def test_who_answers_second_is_told_who_was_first(agent: Interlock, alice: Person, root: Interlock) -> None:
    async with asking(agent.ask_clarification("Well?")):
        seen = await alice.answers(agent, answer="yes")
        with pytest.raises(AlreadySettled) as late:
            await root.respond(seen.request_id, answer="no")
    assert (late.value.answered_by, late.value.source) == ("alice", "hitl")
    assert late.value.answered_at is not None
    assert (late.value.code, late.value.status) == ("HITL_REQUEST_NOT_PENDING", 400)


async def test_who_answers_after_the_deadline_is_told_so(agent: Interlock, alice: Person) -> None:
    seen: list[PendingRequest] = []
    async with asking(agent.ask_clarification("Quick?", timeout=3)):
        seen += await alice.sees(agent)
        await until(lambda: alice.request(seen[0].request_id), lambda request: request.status == "expired")
        with pytest.raises(Expired) as late:
            await alice.respond(seen[0].request_id, answer="no")
    assert late.value.code == "HITL_REQUEST_EXPIRED"


async def test_an_answer_that_does_not_fit_leaves_it_pending(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_approval("delete_file", {})) as asked:
        [seen] = await alice.sees(agent)
        with pytest.raises(InvalidResponse) as refused:
            await alice.respond(seen.request_id, {"granted": "yes"}, typo=True)
        assert {error.field for error in refused.value.errors} == {"response.granted", "response.typo"}
        await alice.respond(seen.request_id, granted=True, metadata={"from": "a test"})
        assert (await within(asked)).granted


async def test_what_is_anothers_is_forbidden(agent: Interlock, alice: Person, bob: Interlock) -> None:
    async with asking(agent.ask_clarification("Well?")):
        [seen] = await alice.sees(agent)
        with pytest.raises(Forbidden):
            await bob.respond(seen.request_id, answer="me")
        with pytest.raises(Forbidden):
            await bob.request(seen.request_id)
        with pytest.raises(Forbidden):
            await anext(bob.pending(seen.conversation_id))


async def test_an_agents_key_never_answers(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_clarification("Well?")):
        [seen] = await alice.sees(agent)
        with pytest.raises(Forbidden):
            await agent.respond(seen.request_id, answer="I say yes")


async def test_an_unknown_request_is_not_found(alice: Person) -> None:
    with pytest.raises(NotFound) as unknown:
        await alice.request("clar_00000000")
    assert (unknown.value.code, unknown.value.details["request_id"]) == ("HITL_REQUEST_NOT_FOUND", "clar_00000000")
    with pytest.raises(NotFound):
        await alice.cancel("clar_00000000")
    with pytest.raises(InvalidInput):
        await alice.request("")
