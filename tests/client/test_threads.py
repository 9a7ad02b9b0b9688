"""Talking to hosted agents: typed events, replies, and what is known of a thread."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from interlock_client import Forbidden, Interlock, InvalidInput, NothingPending, ThreadBusy
from interlock_client.events import ChatEvent, End, Failed, Interrupt, Partial, ToolEnd, ToolStart
from tests.client.asking import Person, within
from tests.client.conftest import token_of
from tests.client.network import Network
from tests.support.people import People
from tests.support.puppet import calls, fails, gate, says, script
from tests.support.server import ServerProcess
from tests.support.witness import Witness

GUARDED = script(calls(("guarded", {"name": "a"})))


async def told(events: AsyncGenerator[ChatEvent]) -> list[ChatEvent]:
    return await within(_all(events))


async def _all(events: AsyncGenerator[ChatEvent]) -> list[ChatEvent]:
    return [event async for event in events]


async def test_a_message_begins_a_thread_and_is_answered(alice: Person) -> None:
    events = await told(alice.chat(script(says("Hello ", "there"))))
    assert [event.content for event in events if isinstance(event, Partial)] == ["Hello ", "there"]
    assert isinstance(events[-1], End)
    thread_id = events[-1].thread_id
    assert [message.role for message in await alice.history(thread_id)] == ["user", "assistant"]
    assert (await alice.status(thread_id)).status == "idle"


async def test_an_approval_is_given_over_the_thread(alice: Person) -> None:
    asked = await told(alice.chat(GUARDED))
    interrupt = next(event for event in asked if isinstance(event, Interrupt))
    assert [request.kind for request in interrupt.requests] == ["approval"]
    status = await alice.status(interrupt.thread_id)
    assert status.interrupt_info is not None
    request_id = status.interrupt_info.requests[0].request_id
    done = await told(alice.resume(interrupt.thread_id, "continue", request_id=request_id))
    started = next(event for event in done if isinstance(event, ToolStart))
    ended = next(event for event in done if isinstance(event, ToolEnd))
    assert (started.tool, ended.output, ended.status) == ("guarded", "done a", "success")
    assert isinstance(done[-1], End)
    assert done[-1].action == "continue"


async def test_a_refusal_carries_its_reason(alice: Person) -> None:
    asked = await told(alice.chat(GUARDED))
    done = await told(alice.resume(_thread(asked), "cancel", reason="not today"))
    ended = next(event for event in done if isinstance(event, ToolEnd))
    assert (ended.status, ended.output) == ("refused", "not today")


async def test_questions_are_answered_and_a_reply_that_does_not_fit_is_not_taken(alice: Person) -> None:
    asked = await told(
        alice.chat(script(calls(("ask_user", {"questions": [{"question": "Who?"}, {"question": "When?"}]}))))
    )
    wrong = await told(alice.resume(_thread(asked), "answer", answers=["me"]))
    assert [type(event) for event in wrong] == [Failed, End]
    assert isinstance(wrong[-1], End)
    assert wrong[-1].action == "error"
    right = await told(alice.resume(_thread(asked), "answer", answers=["me", "now"]))
    assert isinstance(right[-1], End)
    assert right[-1].action == "answer"


async def test_an_agent_that_fails_is_told_as_an_event(alice: Person) -> None:
    events = await told(alice.chat(script(fails("broken"))))
    assert [type(event) for event in events] == [Failed, End]


async def test_a_thread_that_waits_takes_no_message(alice: Person) -> None:
    asked = await told(alice.chat(GUARDED))
    with pytest.raises(ThreadBusy) as busy:
        await told(alice.chat("hello", _thread(asked)))
    assert [one["kind"] for one in busy.value.pending] == ["approval"]
    assert busy.value.status == 409


async def test_a_thread_that_waits_for_nobody_cannot_be_resumed(alice: Person) -> None:
    thread_id = await alice.create_thread()
    with pytest.raises(NothingPending):
        await told(alice.resume(thread_id, "cancel"))


async def test_threads_are_made_listed_and_deleted(server: ServerProcess, people: People) -> None:
    async with Interlock(server.url, token=token_of(people.named("lister")), locale="en") as lister:
        await made_listed_and_deleted(lister)


async def made_listed_and_deleted(bob: Interlock) -> None:
    made = [await bob.create_thread("puppet") for _ in range(5)]
    listed = [one.thread_id async for one in bob.threads(page_size=2)]
    assert listed == made[::-1]
    await bob.delete_thread(made[0])
    assert [one.thread_id async for one in bob.threads()] == made[:0:-1]
    with pytest.raises(Forbidden):
        await bob.status(made[0])
    for thread_id in made[1:]:
        await bob.delete_thread(thread_id)


async def test_an_agent_that_is_not_hosted_is_named(alice: Person) -> None:
    with pytest.raises(InvalidInput):
        await alice.create_thread("nobody")


async def test_what_is_no_text_is_not_sent(alice: Person) -> None:
    with pytest.raises(InvalidInput) as refused:
        await told(alice.chat(""))
    assert [error.field for error in refused.value.errors] == ["message"]


async def test_a_thread_can_be_followed_by_another(alice: Person, token: str, server: ServerProcess) -> None:
    asked = await told(alice.chat(GUARDED))
    async with Interlock(server.url, token=token) as other:
        following = other.follow_thread(_thread(asked), "0")
        assert isinstance(await within(anext(following)), Interrupt)
        await told(alice.resume(_thread(asked), "continue"))
        rest: list[ChatEvent] = []
        while not (rest and isinstance(rest[-1], Partial)):
            rest.append(await within(anext(following)))
        await following.aclose()
    assert [type(event) for event in rest] == [End, ToolStart, ToolEnd, Partial]


async def test_a_chat_whose_connection_is_cut_is_told_to_its_end(
    server: ServerProcess, token: str, witness: Witness
) -> None:
    message = script(calls(("note", {"name": "cut"}), say=["one "]), says(gate("cut"), "two"))
    with Network(server.url) as network:
        async with Interlock(network.url, token=token) as client:
            events = client.chat(message, detached=True)
            seen: list[ChatEvent] = []
            while not (seen and isinstance(seen[-1], ToolEnd)):
                seen.append(await within(anext(events)))
            network.cut()
            await asyncio.to_thread(witness.release, "cut")
            seen += await told(events)
    assert isinstance(seen[-1], End)
    assert "".join(event.content for event in seen if isinstance(event, Partial)).endswith("two")
    assert sum(isinstance(event, ToolEnd) for event in seen) == 1


def _thread(events: list[ChatEvent]) -> str:
    [thread_id] = {event.thread_id for event in events if isinstance(event, Interrupt)}
    return thread_id
