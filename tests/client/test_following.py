"""A conversation is followed over any number of connections, without a gap."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from interlock_client import Interlock, InvalidInput, NotFound
from interlock_client.events import RequestAsked, RequestEvent, RequestSettled
from tests.client.asking import Person, asking, within
from tests.client.network import Network
from tests.support.server import ServerProcess


async def take(events: AsyncGenerator[RequestEvent], count: int) -> list[RequestEvent]:
    return [await within(anext(events)) for _ in range(count)]


async def test_what_is_pending_comes_first_then_what_happens(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_clarification("Well?")):
        [seen] = await alice.sees(agent)
        events = alice.follow(seen.conversation_id)
        [asked] = await take(events, 1)
        assert isinstance(asked, RequestAsked)
        assert (asked.type, asked.request_id, asked.data["question"]) == (
            "clarification_asked",
            seen.request_id,
            "Well?",
        )
        await alice.respond(seen.request_id, answer="yes")
        [settled] = await take(events, 1)
        await events.aclose()
    assert isinstance(settled, RequestSettled)
    assert (settled.type, settled.response, settled.answered_by) == (
        "clarification_answered",
        {"answer": "yes"},
        "alice",
    )
    assert settled.answered


async def test_what_nobody_answered_is_told_as_such(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_decision("Now?", ["yes"])):
        [seen] = await alice.sees(agent)
        events = agent.follow()
        await take(events, 1)
        await alice.cancel(seen.request_id)
        [settled] = await take(events, 1)
        await events.aclose()
    assert isinstance(settled, RequestSettled)
    assert (settled.type, settled.answered, settled.response) == ("request_cancelled", False, None)


async def test_after_an_event_everything_since_is_told(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_clarification("First?")):
        first = await alice.answers(agent, answer="1")
    async with asking(agent.ask_clarification("Second?")):
        second = await alice.answers(agent, answer="2")
        events = alice.follow(first.conversation_id, "0")
        told = await take(events, 4)
        await events.aclose()
        again = alice.follow(first.conversation_id, told[1].id)
        assert await take(again, 2) == told[2:]
        await again.aclose()
    asked = [one.request_id for one in told if isinstance(one, RequestAsked)]
    settled = [one.request_id for one in told if isinstance(one, RequestSettled)]
    assert asked == settled == [first.request_id, second.request_id]


async def test_a_cut_connection_is_not_noticed(server: ServerProcess, key: str, alice: Person, token: str) -> None:
    with Network(server.url) as network:
        async with Interlock(server.url, key=key) as agent, Interlock(network.url, token=token) as person:
            async with asking(agent.ask_clarification("begin?")):
                [first] = await alice.sees(agent)
                events = person.follow(first.conversation_id)
                assert [one.type for one in await take(events, 1)] == ["clarification_asked"]
            assert [one.type for one in await take(events, 1)] == ["request_cancelled"]
            for number in range(3):
                network.cut()
                async with asking(agent.ask_clarification(f"what is {number}?")) as asked:
                    await alice.answers(agent, answer=str(number))
                    await within(asked)
                told = await take(events, 2)
                assert [one.type for one in told] == ["clarification_asked", "clarification_answered"]
                assert isinstance(told[0], RequestAsked)
                assert told[0].data["question"] == f"what is {number}?"
            await events.aclose()
        assert network.opened >= 4


async def test_it_ends_when_the_conversation_is_deleted(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_clarification("Well?")):
        [seen] = await alice.sees(agent)
        events = alice.follow(seen.conversation_id)
        await take(events, 1)
        await alice.delete_thread(seen.conversation_id)
        rest = await within(_all(events))
    assert [one.type for one in rest if isinstance(one, RequestSettled)] in ([], ["request_cancelled"])


async def _all(events: AsyncGenerator[RequestEvent]) -> list[RequestEvent]:
    return [event async for event in events]


async def test_what_does_not_exist_is_not_followed(alice: Person, bob: Interlock) -> None:
    with pytest.raises(NotFound):
        await within(anext(alice.follow("nobody-knows")))
    with pytest.raises(InvalidInput):
        bob.follow()


async def test_many_may_follow_at_once(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_clarification("Well?")):
        [seen] = await alice.sees(agent)
        followers = [alice.follow(seen.conversation_id) for _ in range(10)]
        told = await asyncio.gather(*(take(events, 1) for events in followers))
        for events in followers:
            await events.aclose()
    assert all(one == told[0] for one in told)
