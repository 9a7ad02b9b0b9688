"""The inbox is followed over all conversations and many connections: each request is told once, and how it ends."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from interlock_client import Interlock, InterlockError, NetworkError, NotAuthenticated, SyncInterlock
from interlock_client.events import InboxAsked, InboxEvent, InboxExtended, InboxGone, InboxSettled
from tests.client.asking import Person, asking, within
from tests.client.network import Network
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.wire import beside


async def of(events: AsyncGenerator[InboxEvent], agent: str, count: int = 1) -> list[InboxEvent]:
    """So many events about what this agent asks; other tests ask too."""
    found: list[InboxEvent] = []
    while len(found) < count:
        event = await within(anext(events))
        if event.entry.agent == agent:
            found.append(event)
    return found


async def name_of(alice: Person, agent: Interlock) -> str:
    [seen] = await alice.sees(agent)
    return seen.agent


async def test_what_waits_comes_first_then_what_happens_in_any_conversation(
    server: ServerProcess, key: str, agent: Interlock, alice: Person
) -> None:
    async with asking(agent.ask_clarification("First?")) as first:
        name = await name_of(alice, agent)
        events = alice.follow_inbox()
        [asked] = await of(events, name)
        assert isinstance(asked, InboxAsked)
        assert (asked.entry.kind, asked.entry.headline) == ("clarification", "First?")
        async with Interlock(server.url, key=key) as elsewhere, asking(elsewhere.ask_decision("Second?", ["a"])):
            [second] = await of(events, name)
            assert second.entry.conversation_id != asked.entry.conversation_id
            await alice.respond(asked.entry.request_id, answer="yes")
            assert await within(first) == "yes"
            [settled] = await of(events, name)
            assert isinstance(settled, InboxSettled)
            assert (settled.entry, settled.status, settled.value) == (asked.entry, "answered", {"answer": "yes"})
            assert (settled.answered_by, settled.source) == ("alice", "hitl")
        [cancelled] = await of(events, name)
        assert isinstance(cancelled, InboxSettled)
        assert (cancelled.entry, cancelled.status, cancelled.value) == (second.entry, "cancelled", None)
        await events.aclose()


async def test_more_time_and_a_deleted_conversation_are_told(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_clarification("Well?")):
        name = await name_of(alice, agent)
        events = alice.follow_inbox()
        [asked] = await of(events, name)
        path = f"/api/v1/inbox/requests/{asked.entry.request_id}/extend"
        call: Any = alice._transport  # pyright: ignore[reportPrivateUsage]
        await call._http.post(path, json={"seconds": 60})
        [extended] = await of(events, name)
        assert isinstance(extended, InboxExtended)
        assert extended.expires_at > str(asked.entry.expires_at)
        await alice.delete_thread(asked.entry.conversation_id)
        [ended] = await of(events, name)
        assert isinstance(ended, InboxSettled | InboxGone)
        await events.aclose()


async def test_what_happens_while_the_connection_is_cut_is_told_once(
    server: ServerProcess, key: str, alice: Person, token: str
) -> None:
    with Network(server.url) as network:
        async with Interlock(network.url, token=token) as person, Interlock(server.url, key=key) as agent:
            events = person.follow_inbox()
            async with asking(agent.ask_clarification("begin?")):
                name = await name_of(alice, agent)
                [before] = await of(events, name)
                network.cut()
            told: list[InboxEvent] = []
            for number in range(3):
                async with asking(agent.ask_clarification(f"what is {number}?")) as asked:
                    seen = (await alice.sees(agent))[0]
                    told += await of(events, name, 2 if number == 0 else 1)
                    network.cut()
                    await alice.respond(seen.request_id, answer=str(number))
                    await within(asked)
                told += await of(events, name)
            await events.aclose()
        assert network.opened >= 4
    ends = [event for event in told if isinstance(event, InboxSettled)]
    asks = [event.entry.headline for event in told if isinstance(event, InboxAsked)]
    assert asks == ["what is 0?", "what is 1?", "what is 2?"]
    assert [event.value for event in ends if event.status == "answered"] == [{"answer": str(n)} for n in range(3)]
    assert [event.entry for event in ends if event.status == "cancelled"] == [before.entry]
    assert len(told) == 7


async def test_a_lost_connection_and_its_return_are_told_to_who_wants_to_know(
    server: ServerProcess, agent: Interlock, alice: Person, token: str
) -> None:
    states: list[InterlockError | None] = []
    with Network(server.url) as network:
        async with Interlock(network.url, token=token) as person, asking(agent.ask_clarification("First?")):
            name = await name_of(alice, agent)
            events = person.follow_inbox(on_connection=states.append)
            await of(events, name)
            assert states == []
            async with asking(agent.ask_clarification("Second?")):
                await of(events, name)
                assert states == [None]
                network.cut()
                async with asking(agent.ask_clarification("Third?")):
                    await of(events, name)
            await of(events, name)
            await events.aclose()
    assert states[0] is None
    assert isinstance(states[1], NetworkError)
    assert states[-1] is None


async def test_a_revoked_key_ends_it_with_an_error(server: ServerProcess, alice: Person) -> None:
    made = await alice.create_key("bot", "person")
    async with Interlock(server.url, key=made.key, patience=0) as bot:
        events = bot.follow_inbox()
        asker = await alice.create_key("asker", "agent")
        async with Interlock(server.url, key=asker.key) as agent, asking(agent.ask_clarification("Well?")):
            await of(events, await name_of(alice, agent))
        await alice.revoke_key(made.id)
        with pytest.raises(NotAuthenticated):
            await of(events, "nobody")


async def test_nobody_hears_of_what_is_not_theirs(agent: Interlock, alice: Person, bob: Interlock) -> None:
    events = bob.follow_inbox()
    async with asking(agent.ask_clarification("Secret?")):
        name = await name_of(alice, agent)
        async with asking(bob.ask_clarification("Mine?")):
            heard = await within(anext(events))
            while heard.entry.headline != "Mine?":
                assert heard.entry.agent != name
                heard = await within(anext(events))
        await events.aclose()


def test_the_twin_without_async_follows_too(server: ServerProcess, people: People) -> None:
    token = people.named("dora").http.headers["authorization"].removeprefix("Bearer ")
    with (
        SyncInterlock(server.url, token=token) as asker,
        SyncInterlock(server.url, token=token) as person,
        beside(lambda: asker.ask_clarification("Sync?")),
    ):
        events = person.follow_inbox()
        first = next(events)
        assert isinstance(first, InboxAsked)
        assert [one.request_id for one in person.inbox(kind="clarification")] == [first.entry.request_id]
        assert list(person.inbox(kind="decision")) == []
        person.respond(first.entry.request_id, answer="yes")
        second = next(events)
        assert isinstance(second, InboxSettled)
        events.close()
