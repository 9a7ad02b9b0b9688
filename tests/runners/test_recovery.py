"""What a worker's death leaves behind, and how the next one goes on: design.md step 5 and the rules of facts.md."""

import asyncio
import operator
from typing import Annotated, Any

import pytest
from langgraph.graph import MessagesState
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from interlock.domain.event import AssistantMessage, EventType
from interlock.domain.request import PauseStatus
from interlock.services.requests.answering import SettleResult
from interlock.services.threads.threads import delete_thread
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import agent, fan, line
from tests.runners.stage import ANN, THREAD, Stage, Turn
from tests.support.bodies import shown


class Said(TypedDict, total=False):
    topic: str
    said: Annotated[list[str], operator.add]


def ask(state: Said) -> Said:
    return {"said": [interrupt("which one?")]}


async def resumed(stage: Stage, settled: SettleResult) -> Turn:
    await stage.start()
    assert settled.run is not None
    return await stage.ended(settled.run, settled.seq)


async def test_killed_before_the_first_checkpoint_the_message_is_sent_again(host: Host) -> None:
    stage = await host(line(Said, ask), started=False)
    started = await stage.send("topic")
    await stage.claim()
    await stage.start()

    turn = await stage.ended(started.run, started.seq)

    assert shown(turn.request)["question"] == "which one?"
    assert (await stage.values())["topic"] == "topic"


async def test_killed_inside_the_first_node_the_message_is_not_sent_twice(host: Host) -> None:
    gate = Gate()

    async def node(state: MessagesState) -> dict[str, Any]:
        await gate.stop()
        return {"messages": [("ai", "hi")]}

    stage = await host(line(MessagesState, node), started=False)
    started = await stage.send("hello")
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()
    await stage.start()

    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "done"
    assert [message.text for message in await stage.messages()] == ["hello", "hi"]
    assert len(await stage.events(EventType.ASSISTANT_MESSAGE)) == 1


async def test_killed_after_the_graph_asked_and_before_we_recorded_it_the_question_is_found(host: Host) -> None:
    entered: list[str] = []

    def node(state: Said) -> Said:
        entered.append("node")
        return {"said": [interrupt("which one?")]}

    stage = await host(line(Said, node), started=False)
    started = await stage.send("topic")
    dying = await stage.dying()
    await stage.graph.ainvoke({"topic": "topic"}, dying.config, durability="sync")
    assert await stage.open_requests() == []
    await stage.start()

    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "paused"
    assert entered == ["node"]
    turn = await stage.tell(turn.request, "this")
    assert turn.status == "done"
    assert (await stage.values())["said"] == ["this"]


async def test_a_paused_thread_is_still_paused_and_answerable_after_a_restart(host: Host) -> None:
    stage = await host(line(Said, ask))
    turn = await stage.say()
    await stage.close()
    await stage.start("another")
    assert [request.id for request in await stage.open_requests()] == [turn.request.id]

    turn = await stage.tell(turn.request, "this")

    assert turn.status == "done"


async def test_answered_and_not_sent_it_is_sent(host: Host) -> None:
    stage = await host(line(Said, ask))
    turn = await stage.say()
    await stage.close()
    settled = await stage.answer(turn.request, {"answer": "this"})
    await stage.dying()

    turn = await resumed(stage, settled)

    assert turn.status == "done"
    assert (await stage.values())["said"] == ["this"]


async def test_sent_and_not_consumed_it_is_sent_again_and_nobody_is_asked_again(host: Host) -> None:
    gate, heard = Gate(), list[str]()

    async def node(state: Said) -> Said:
        answer: str = interrupt("which one?")
        heard.append(answer)
        await gate.stop()
        return {"said": [answer]}

    stage = await host(line(Said, node))
    turn = await stage.say()
    await stage.close()
    settled = await stage.answer(turn.request, {"answer": "this"})
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()

    turn = await resumed(stage, settled)

    assert turn.status == "done"
    assert heard == ["this", "this"]
    assert (await stage.values())["said"] == ["this"]
    assert len(await stage.events(EventType.PAUSE_OPENED)) == 1


async def test_consumed_by_a_node_that_ended_it_is_not_sent_to_the_next_question(host: Host) -> None:
    def first(state: Said) -> Said:
        return {"said": [interrupt("delete staging?")]}

    def second(state: Said) -> Said:
        return {"said": [interrupt("delete PRODUCTION?")]}

    stage = await host(line(Said, first, second))
    turn = await stage.say()
    await stage.close()
    settled = await stage.answer(turn.request, {"answer": "yes"})
    dying = await stage.dying()
    # The worker resumed the graph, which asked the next question, and died before that was recorded.
    resume: Any = Command(resume={turn.request.interrupt_id: "yes"})
    await stage.graph.ainvoke(resume, dying.config, durability="sync")

    turn = await resumed(stage, settled)

    assert turn.status == "paused"
    assert shown(turn.request)["question"] == "delete PRODUCTION?"
    assert (await stage.values())["said"] == ["yes"]
    assert len(await stage.pauses(PauseStatus.CONSUMED)) == 1
    turn = await stage.tell(turn.request, "maybe")
    assert (await stage.values())["said"] == ["yes", "maybe"]


async def test_consumed_by_a_node_that_asked_again_it_is_not_sent_to_the_second_question(host: Host) -> None:
    def node(state: Said) -> Said:
        return {"said": [f"{interrupt('delete staging?')} {interrupt('delete PRODUCTION?')}"]}

    stage = await host(line(Said, node))
    turn = await stage.say()
    await stage.close()
    settled = await stage.answer(turn.request, {"answer": "yes"})
    dying = await stage.dying()
    resume: Any = Command(resume={turn.request.interrupt_id: "yes"})
    await stage.graph.ainvoke(resume, dying.config, durability="sync")

    turn = await resumed(stage, settled)

    assert turn.status == "paused"
    assert shown(turn.request)["question"] == "delete PRODUCTION?"
    turn = await stage.tell(turn.request, "maybe")
    assert (await stage.values())["said"] == ["yes maybe"]


async def test_two_answered_and_killed_after_one_ended_only_the_other_is_sent(host: Host) -> None:
    gate, heard = Gate(), list[str]()

    async def quick(state: Said) -> Said:
        answer: str = interrupt("A?")
        heard.append(f"A {answer}")
        return {"said": [f"A {answer}"]}

    async def slow(state: Said) -> Said:
        answer: str = interrupt("B?")
        heard.append(f"B {answer}")
        await gate.stop()
        return {"said": [f"B {answer}"]}

    stage = await host(fan(Said, quick, slow))
    turn = await stage.say()
    asked = {shown(request)["question"]: request for request in turn.requests}
    await stage.close()
    await stage.answer(asked["A?"], {"answer": "a"})
    settled = await stage.answer(asked["B?"], {"answer": "b"})
    mortal = await stage.mortal()
    await gate.until_reached()
    await until_pending(stage, 1)
    await mortal.kill()

    turn = await resumed(stage, settled)

    assert turn.status == "done"
    assert heard.count("A a") == 1
    assert heard.count("B b") == 2
    assert sorted((await stage.values())["said"]) == ["A a", "B b"]


async def until_pending(stage: Stage, count: int) -> None:
    for _ in range(10_000):
        if len((await stage.state()).interrupts) == count:
            return
        await asyncio.sleep(0.005)
    raise AssertionError("the graph did not come that far")


async def test_a_message_that_no_transaction_took_is_put_back_into_the_log(host: Host) -> None:
    deeds = Deeds()
    stage = await host(agent([deeds.tool("send")], [("c1", "send", {"path": "a"})]), started=False)
    started = await stage.send()
    dying = await stage.dying()
    given = {"messages": [("user", "go")]}
    await stage.graph.ainvoke(given, dying.config, durability="sync", interrupt_after=["model"])
    assert await stage.events(EventType.ASSISTANT_MESSAGE) == []
    await stage.start()

    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "done"
    said = await stage.events_of(AssistantMessage)
    assert [one.text for one in said] == ["", "done"]
    assert said[0].tool_calls[0].id == "c1"
    assert deeds.done == ["send a"]


@on_sqlite
async def test_a_wake_up_that_was_lost_is_found_by_the_sweeper(host: Host) -> None:
    stage = await host(line(Said, ask))
    runner = stage.core.runner
    other = await host(line(Said, ask), started=False)
    started = await other.send()
    assert stage.core.runner is runner

    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "paused"


@on_sqlite
async def test_a_deleted_thread_stays_deleted(host: Host) -> None:
    gate = Gate()

    async def node(state: Said) -> Said:
        await gate.stop()
        return {"said": ["late"]}

    stage = await host(line(Said, node))
    await stage.send()
    await gate.until_reached()
    await delete_thread(stage.core, ANN, THREAD)
    gate.open.set()
    await stage.close()
    assert (await stage.state()).values == {}


@pytest.mark.parametrize("times", [3])
@on_sqlite
async def test_dying_again_and_again_changes_nothing(host: Host, times: int) -> None:
    stage = await host(line(Said, ask))
    turn = await stage.say()
    await stage.close()
    settled = await stage.answer(turn.request, {"answer": "this"})
    for _ in range(times):
        await stage.dying()
        await stage.take_over()

    turn = await resumed(stage, settled)

    assert turn.status == "done"
    assert (await stage.values())["said"] == ["this"]
