"""Open issues of LangGraph that must not show through here, by their numbers in its repository."""

import asyncio
import operator
from typing import Annotated, Any

import pytest
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from interlock.domain.errors import LeaseLost
from interlock.domain.event import EventType
from interlock.services.threads.threads import delete_thread
from tests.runners.conftest import Host
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import fan, line
from tests.runners.stage import ANN, SECONDS, THREAD
from tests.support.bodies import shown


class Said(TypedDict, total=False):
    topic: str
    said: Annotated[list[str], operator.add]


async def test_8837_a_consumed_resume_never_answers_a_later_interrupt(host: Host) -> None:
    deeds = Deeds()

    def node(state: Said) -> Said:
        for name in ("staging", "PRODUCTION"):
            if interrupt(f"delete {name}?") == "yes":
                deeds.note(f"{name} {len(deeds.done)}")
        return {"said": ["end"]}

    stage = await host(line(Said, node))
    turn = await stage.say()
    await stage.close()
    settled = await stage.answer(turn.request, {"answer": "yes"})
    assert settled.run is not None
    # Each worker dies after the graph took the answer and asked the next question, before that was recorded.
    for _ in range(2):
        dying = await stage.dying()
        state = await stage.state()
        if turn.request.interrupt_id in {pending.id for pending in state.interrupts}:
            resume: Any = {turn.request.interrupt_id: "yes"}
            await stage.graph.ainvoke(Command(resume=resume), dying.config, durability="sync")
        await stage.take_over()
    await stage.start()

    turn = await stage.ended(settled.run, settled.seq)

    assert turn.status == "paused"
    assert shown(turn.request)["question"] == "delete PRODUCTION?"
    assert not any(deed.startswith("PRODUCTION") for deed in deeds.done)


@pytest.mark.parametrize("wait", ["answered", "killed"])
async def test_8579_6792_finished_work_of_a_subgraph_is_not_done_again(host: Host, wait: str) -> None:
    deeds, gate = Deeds(), Gate()

    async def prepare(state: Said) -> Said:
        deeds.note("prepare")
        return {"said": ["prepared"]}

    async def ask(state: Said) -> Said:
        answer: str = interrupt("go on?")
        if wait == "killed":
            await gate.stop()
        return {"said": [answer]}

    async def finish(state: Said) -> Said:
        deeds.note("finish")
        return {"said": ["finished"]}

    inner = line(Said, prepare, ask, finish).compile()
    builder: Any = line(Said)
    builder.add_node("inner", inner).add_edge("__start__", "inner").add_edge("inner", "__end__")
    stage = await host(builder)
    turn = await stage.say()
    await stage.close()
    settled = await stage.answer(turn.request, {"answer": "yes"})
    assert settled.run is not None
    if wait == "killed":
        mortal = await stage.mortal()
        await gate.until_reached()
        await mortal.kill()
    await stage.start()

    turn = await stage.ended(settled.run, settled.seq)

    assert turn.status == "done"
    assert deeds.done == ["prepare", "finish"]
    assert (await stage.values())["said"] == ["prepared", "yes", "finished"]


async def test_7206_late_writes_do_not_revive_a_deleted_thread(host: Host) -> None:
    gate = Gate()

    async def node(state: Said) -> Said:
        await gate.stop()
        return {"said": ["late"]}

    stage = await host(line(Said, node), started=False)
    await stage.send()
    mortal = await stage.mortal()
    await gate.until_reached()
    await delete_thread(stage.core, ANN, THREAD)
    events = await stage.events()
    gate.open.set()

    async with asyncio.timeout(SECONDS):
        with pytest.raises(LeaseLost):
            await mortal.task

    assert (await stage.state()).values == {}
    assert await stage.events() == events
    assert await stage.open_requests() == []


async def test_6626_6533_5952_parallel_interrupts_are_all_shown_and_each_gets_its_own_answer(host: Host) -> None:
    def spread(state: Said) -> list[Send]:
        return [Send("ask", {"topic": str(n)}) for n in range(4)]

    def ask(state: Said) -> Said:
        first: str = interrupt(f"{state.get('topic')} first?")
        second: str = interrupt(f"{state.get('topic')} second?")
        return {"said": [f"{state.get('topic')}: {first} {second}"]}

    builder: Any = line(Said)
    builder.add_node("ask", ask).add_conditional_edges("__start__", spread, ["ask"]).add_edge("ask", "__end__")
    stage = await host(builder)
    turn = await stage.say()
    for which in ("first", "second"):
        asked = sorted(turn.requests, key=lambda request: shown(request)["question"])
        assert [shown(request)["question"] for request in asked] == [f"{n} {which}?" for n in range(4)]
        for request in reversed(asked[1:]):
            settled = await stage.answer(request, {"answer": shown(request)["question"]})
            assert settled.run is None
        turn = await stage.tell(asked[0], shown(asked[0])["question"])

    assert turn.status == "done"
    assert sorted((await stage.values())["said"]) == [f"{n}: {n} first? {n} second?" for n in range(4)]
    assert len(await stage.events(EventType.PAUSE_OPENED)) == 2


async def test_8039_the_order_of_parallel_results_is_that_of_the_nodes_whoever_ends_first(host: Host) -> None:
    ended: list[str] = []
    first_may_end = asyncio.Event()

    async def a_first(state: Said) -> Said:
        async with asyncio.timeout(SECONDS):
            await first_may_end.wait()
        ended.append("a")
        return {"said": ["a"]}

    async def b_second(state: Said) -> Said:
        ended.append("b")
        first_may_end.set()
        return {"said": ["b"]}

    async def c_third(state: Said) -> Said:
        return {"said": [interrupt("c?")]}

    stage = await host(fan(Said, a_first, b_second, c_third))
    turn = await stage.say()
    await stage.close()
    await stage.start("another")
    turn = await stage.tell(turn.request, "c")

    assert turn.status == "done"
    assert ended == ["b", "a"]
    assert (await stage.values())["said"] == ["a", "b", "c"]
