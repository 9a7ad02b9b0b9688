"""Faults of other systems between the pause and the page: what is not shown, shown again, or taken for an answer."""

import asyncio
import operator
import uuid
from typing import Annotated, Any

import pytest
from langgraph.types import interrupt
from typing_extensions import TypedDict

from tests.peers.sdk import calling, interrupts_of
from tests.peers.test_side_effects import HELP, RENAME, helped
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import fan, line
from tests.runners.stage import SECONDS
from tests.support.agui import AguiClient, Stream, resolved
from tests.support.puppet import calls, says, script
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

LATER = 3600.0
"""Much more than the 120 seconds after which LangGraph's server forgets what it has told."""


class Said(TypedDict, total=False):
    said: Annotated[list[str], operator.add]


@on_sqlite
async def test_the_pause_of_a_subagent_is_shown_wherever_one_of_the_agent_would_be(host: Host) -> None:
    """deep-agents-ui 45: the run stopped, the record had the interrupt, and the page had no card for it."""
    graph, _ = helped(Deeds(), [[HELP]], RENAME)
    stage = await host(graph)
    async with calling(stage) as caller:
        [(key, value)] = interrupts_of(await caller.run()).items()
        state, thread = await caller.state(), await caller.sdk.threads.get(caller.thread_id)
        open_requests = await stage.open_requests(caller.thread_id)

    assert value["action_requests"][0]["name"] == "rename"
    assert [one["id"] for task in state["tasks"] for one in task["interrupts"]] == [key]
    assert thread["status"] == "interrupted"
    assert [one["id"] for shown in thread["interrupts"].values() for one in shown] == [key]
    assert [one.tool for one in open_requests] == ["rename"]


@on_sqlite
async def test_what_the_stream_shows_is_in_the_stored_state(host: Host) -> None:
    """langgraph 6362: `interrupts` was there in the stream, and empty in the thread's state right after it."""

    def ask(state: Said) -> Said:
        return {"said": [interrupt({"question": "Is the plan good?"})]}

    stage = await host(line(Said, ask))
    async with calling(stage) as caller:
        streamed: dict[str, Any] = {}
        async for part in caller.sdk.runs.stream(
            caller.thread_id, "agent", input={"said": []}, stream_mode=["values", "updates"]
        ):
            if part.event == "values":
                streamed |= interrupts_of(part.data)
        state, thread = await caller.state(), await caller.sdk.threads.get(caller.thread_id)

    assert list(streamed.values()) == [{"question": "Is the plan good?"}]
    assert {one["id"]: one["value"] for one in state["interrupts"]} == streamed
    assert {one["id"]: one["value"] for one in state["tasks"][0]["interrupts"]} == streamed
    assert [one["id"] for shown in thread["interrupts"].values() for one in shown] == list(streamed)


@on_sqlite
async def test_a_page_that_was_refreshed_is_told_of_a_pause_that_comes_later(host: Host) -> None:
    """langgraphjs 2813: the tab that was refreshed while the agent worked showed no interrupt until the next reload."""
    gate = Gate()

    async def work(state: Said) -> Said:
        await gate.stop()
        return {"said": [interrupt("go on?")]}

    stage = await host(line(Said, work))
    async with calling(stage) as caller:
        run = await caller.sdk.runs.create(caller.thread_id, "agent", input={"said": []})
        await gate.until_reached()
        assert (await caller.state())["interrupts"] == []

        async def join() -> dict[str, Any]:
            values: list[Any] = []
            async for part in caller.sdk.runs.join_stream(caller.thread_id, run["run_id"], stream_mode="values"):
                values += [part.data] if part.event == "values" else []
            return interrupts_of(values[-1])

        async with asyncio.timeout(SECONDS):
            refreshed = asyncio.create_task(join())
            gate.open.set()
            shown = await refreshed
            # And a page that comes when whatever remembers for a time has forgotten.
            stage.clock.move(LATER)
            assert await join() == shown
        assert list(shown.values()) == ["go on?"]
        assert [one["id"] for one in (await caller.state())["interrupts"]] == list(shown)


@on_sqlite
async def test_what_still_waits_after_an_answer_is_shown_and_no_message_is_taken_for_its_answer(host: Host) -> None:
    """langgraphjs 2780: the list was empty while a sibling waited, and what was sent next was taken for a resume."""

    def left(state: Said) -> Said:
        return {"said": [f"left {interrupt('left?')}"]}

    def right(state: Said) -> Said:
        return {"said": [f"right {interrupt('right?')}"]}

    stage = await host(fan(Said, left, right))
    async with calling(stage) as caller:
        (first, _), (second, value) = interrupts_of(await caller.run({"said": []})).items()
        assert interrupts_of(await caller.resume({first: "yes"})) == {second: value}
        assert [one["id"] for one in (await caller.state())["interrupts"]] == [second]
        later = await caller.sdk.runs.create(
            caller.thread_id, "agent", input={"said": ["and now?"]}, multitask_strategy="enqueue"
        )
        # It waits for the person, and answers nothing.
        assert [one["id"] for one in (await caller.state())["interrupts"]] == [second]
        done = await caller.resume({second: "no"})
        assert sorted(done["said"])[:2] == ["left yes", "right no"]
        asked = await caller.sdk.runs.join(caller.thread_id, later["run_id"])
        assert sorted(interrupts_of(asked).values()) == ["left?", "right?"]
        assert "and now?" in asked["said"]


@on_sqlite
async def test_a_message_after_a_stop_is_the_input_of_a_run(host: Host) -> None:
    """langgraphjs 2751: after a run that was cancelled the next message became a resume that nothing read."""
    gate = Gate()

    async def work(state: Said) -> Said:
        await gate.stop()
        return {"said": ["worked"]}

    stage = await host(line(Said, work))
    async with calling(stage) as caller:
        run = await caller.sdk.runs.create(caller.thread_id, "agent", input={"said": ["first"]})
        await gate.until_reached()
        await caller.sdk.runs.cancel(caller.thread_id, run["run_id"])
        gate.open.set()
        await caller.sdk.runs.join(caller.thread_id, run["run_id"])
        result = await caller.run({"said": ["follow-up"]})

    assert "follow-up" in result["said"]
    assert result["said"][-1] == "worked"


def asking(alice: ThreadsClient) -> tuple[AguiClient, str, Stream]:
    """A client whose agent waits, the name by which its deed is counted, and what it was shown."""
    client, name = AguiClient.of(alice), uuid.uuid4().hex
    return client, name, client.say(script(calls(("guarded", {"name": name})), says("it is done")))


def test_the_message_after_an_approval_is_a_message(alice: ThreadsClient, witness: Witness) -> None:
    """CopilotKit 1809: the next thing that the user said went to the agent as one more answer."""
    client, name, asked = asking(alice)
    answer = [resolved(asked.interrupts[0], {"approved": True})]
    assert client.run(resume=answer).text == "it is done"
    assert client.say(script(says("hello"))).text == "hello"
    # Nor is one an answer that comes with the old answer, from a page that has kept it: its turn is the next one.
    assert client.say(script(says("hello again")), resume=answer).text == ""
    assert client.run().text == "hello again"
    assert witness.count(name) == 1


def test_a_conversation_whose_tab_was_closed_over_a_pause_is_not_broken(alice: ThreadsClient, witness: Witness) -> None:
    """CopilotKit 1991 (a new tab, a new question: the graph failed from then on), agentscope-java 2848 (the id that is
    in the history was not the one that a resume takes)."""
    before, name, asked = asking(alice)
    # A tab that knows nothing but the conversation.
    tab = AguiClient.of(alice, thread_id=before.thread_id)
    assert tab.say(script(says("something else"))).error == "INTERRUPTS_PENDING"
    tab.messages.clear()
    loaded = tab.run()
    assert [one["id"] for one in loaded.interrupts] == [one["id"] for one in asked.interrupts]
    done = tab.run(resume=[resolved(loaded.interrupts[0], {"approved": True})])
    assert (done.text, witness.count(name)) == ("it is done", 1)
    assert tab.say(script(says("something else"))).text == "something else"


@pytest.mark.parametrize("replays", ["everything", "nothing"])
def test_what_a_client_replays_with_a_resume_changes_nothing(
    alice: ThreadsClient, witness: Witness, replays: str
) -> None:
    """assistant-ui 7021 and 7011: clients send the whole transcript or none; a host wrote it down once more, and so had
    a call without its result, which was asked about again. CopilotKit 6999: the resume has the id of the first run."""
    client, name, asked = asking(alice)
    known = client.run().all("MESSAGES_SNAPSHOT")[-1]["messages"]
    client.messages = known if replays == "everything" else []
    again = {"runId": asked.events[0]["runId"], "resume": [resolved(asked.interrupts[0], {"approved": True})]}
    for _ in range(2):
        assert client.run(**again).outcome == {"type": "success"}
    messages: list[dict[str, Any]] = client.run().all("MESSAGES_SNAPSHOT")[-1]["messages"]

    assert [one["role"] for one in messages] == ["user", "assistant", "tool", "assistant"]
    assert len({one["id"] for one in messages}) == len(messages)
    assert witness.count(name) == 1
