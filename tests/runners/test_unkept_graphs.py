"""Graphs inside of tools and nodes whose steps the run does not keep: nothing that they did is done again unasked."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import interlock
from interlock import ask
from interlock.domain.effect import EffectState
from interlock.domain.event import ToolEnded
from interlock.domain.request import PauseOrigin, PauseStatus
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import by_hand, line
from tests.runners.stage import Stage, Turn
from tests.support.bodies import shown

pytestmark = pytest.mark.promise("P6")

GIVEN: Any = {"messages": [("user", "go")]}
Helper = Callable[[], Awaitable[Any]]


class State(TypedDict, total=False):
    topic: str
    heard: Any


def with_thread(graph: Any) -> Helper:
    # A saver for each call: what it had in memory is gone after a crash.
    return lambda: graph.compile(checkpointer=InMemorySaver()).ainvoke(GIVEN, {"configurable": {"thread_id": "own"}})


def with_thread_only(graph: Any) -> Helper:
    helper = graph.compile()
    return lambda: helper.ainvoke(GIVEN, {"configurable": {"thread_id": "own"}})


def saved_at_exit(graph: Any) -> Helper:
    helper = graph.compile()
    return lambda: helper.ainvoke(GIVEN, durability="exit")


def saved_in_the_background(graph: Any) -> Helper:
    helper = graph.compile()
    return lambda: helper.ainvoke(GIVEN, durability="async")


def without_saver(graph: Any) -> Helper:
    helper = graph.compile(checkpointer=False)
    return lambda: helper.ainvoke(GIVEN)


def inside_one_without_saver(graph: Any) -> Helper:
    """A graph that would be kept, in one that is not: its checkpoints have names that nobody looks for again."""
    inner = graph.compile()

    async def call(state: State) -> State:
        await inner.ainvoke(GIVEN, durability="sync")
        return {}

    outer = line(State, call).compile(checkpointer=False)
    return lambda: outer.ainvoke({"topic": "x"})


unkept = pytest.mark.parametrize(
    "called",
    [with_thread, with_thread_only, saved_at_exit, saved_in_the_background, without_saver, inside_one_without_saver],
)
unsaved = pytest.mark.parametrize("called", [with_thread, with_thread_only, without_saver, inside_one_without_saver])


def sending(deeds: Deeds, gate: Gate | None = None, *, idempotent: bool = False) -> Any:
    @tool
    async def send(path: str) -> str:
        """Send."""
        deeds.note(f"send {path}")
        if gate is not None:
            await gate.stop()
        return "sent"

    send.metadata = {"idempotent": idempotent}
    return by_hand([send], [("d1", "send", {"path": "x"})])


def delegating(helper: Helper, gate: Gate | None = None, *, idempotent: bool = False) -> BaseTool:
    @tool
    async def delegate(path: str) -> str:
        """Let another agent do it."""
        await helper()
        if gate is not None:
            await gate.stop()
        return "delegated"

    delegate.metadata = {"idempotent": idempotent}
    return delegate


async def killed(stage: Stage, gate: Gate) -> Turn:
    """What becomes of a run whose worker is killed when it has reached the gate."""
    started = await stage.send()
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()
    await stage.start()
    return await stage.ended(started.run, started.seq)


@unkept
@pytest.mark.parametrize(("word", "sent"), [("skip", 1), ("retry", 2)])
async def test_the_word_on_a_call_holds_for_what_it_did_inside_an_unkept_graph(
    host: Host, called: Callable[[Any], Helper], word: str, sent: int
) -> None:
    deeds, gate = Deeds(), Gate()
    delegate = delegating(called(sending(deeds, gate)))
    stage = await host(by_hand([delegate], [("c1", "delegate", {"path": "x"})]), started=False)

    turn = await killed(stage, gate)

    assert turn.status == "paused", turn.error
    assert [pause.origin for pause in await stage.pauses(PauseStatus.OPEN)] == [PauseOrigin.EFFECT]
    assert shown(turn.request)["title"].startswith("delegate ")
    assert 'send {"path":"x"}' in shown(turn.request)["description"]
    assert deeds.done == ["send x"]
    turn = await stage.reply(turn.request, {"decision": word})
    assert turn.status == "done", turn.error
    assert deeds.counts == {"send x": sent}
    ended = [one.tool for one in await stage.events_of(ToolEnded)]
    assert ended == ["send", *["send"] * (sent - 1), "delegate"]


@unkept
@pytest.mark.parametrize("idempotent", [False, True])
async def test_a_call_that_was_killed_after_its_unkept_graph_had_ended_is_put_to_a_person(
    host: Host, called: Callable[[Any], Helper], idempotent: bool
) -> None:
    deeds, gate = Deeds(), Gate()
    delegate = delegating(called(sending(deeds)), gate, idempotent=idempotent)
    stage = await host(by_hand([delegate], [("c1", "delegate", {"path": "x"})]), started=False)

    turn = await killed(stage, gate)

    assert turn.status == "paused", turn.error
    assert shown(turn.request)["title"].startswith("delegate ")
    turn = await stage.reply(turn.request, {"decision": "skip"})
    assert turn.status == "done", turn.error
    assert deeds.done == ["send x"]


@on_sqlite
async def test_what_is_idempotent_inside_an_unkept_graph_asks_nobody(host: Host) -> None:
    deeds, gate = Deeds(), Gate()
    delegate = delegating(with_thread(sending(deeds, idempotent=True)), gate, idempotent=True)
    stage = await host(by_hand([delegate], [("c1", "delegate", {"path": "x"})]), started=False)

    turn = await killed(stage, gate)

    assert turn.status == "done", turn.error


@on_sqlite
async def test_a_kept_graph_beside_an_unkept_one_does_not_have_the_call_entered_again(host: Host) -> None:
    deeds, gate = Deeds(), Gate()
    unkept_one, kept_one = with_thread(sending(deeds)), sending(deeds).compile()

    async def both() -> None:
        await unkept_one()
        await kept_one.ainvoke(GIVEN)

    stage = await host(by_hand([delegating(both, gate)], [("c1", "delegate", {"path": "x"})]), started=False)

    turn = await killed(stage, gate)

    assert turn.status == "paused", turn.error
    turn = await stage.reply(turn.request, {"decision": "skip"})
    assert deeds.counts == {"send x": 2}


@on_sqlite
@unkept
async def test_a_plain_node_runs_tools_of_an_unkept_graph_only_inside_an_effect(
    host: Host, called: Callable[[Any], Helper]
) -> None:
    deeds = Deeds()
    helper = called(sending(deeds))

    async def node(state: State) -> State:
        await helper()
        return {}

    stage = await host(line(State, node))
    turn = await stage.say()
    assert turn.status == "failed"
    assert "interlock.effect" in (turn.error or "")
    assert deeds.done == []


@on_sqlite
@unkept
async def test_an_effect_around_an_unkept_graph_is_asked_about_once_for_all_inside(
    host: Host, called: Callable[[Any], Helper]
) -> None:
    deeds, gate = Deeds(), Gate()
    helper = called(sending(deeds, gate))

    async def node(state: State) -> State:
        async def do() -> str:
            await helper()
            return "done"

        return {"heard": await interlock.effect("helper", do)}

    stage = await host(line(State, node), started=False)

    turn = await killed(stage, gate)

    assert turn.status == "paused", turn.error
    assert shown(turn.request)["title"].startswith("helper ")
    turn = await stage.reply(turn.request, {"decision": "skip"})
    assert turn.status == "failed"
    assert "EffectSkipped: helper was cut short" in (turn.error or "")
    assert deeds.done == ["send x"]


@on_sqlite
@unsaved
async def test_an_ask_after_tools_of_an_unsaved_graph_is_refused_since_its_answer_would_run_them_again(
    host: Host, called: Callable[[Any], Helper]
) -> None:
    deeds = Deeds()
    helper = called(sending(deeds))

    @tool
    async def delegate(path: str) -> str:
        """Let another agent do it, then ask."""
        await helper()
        return ask.clarification("and now?")

    stage = await host(by_hand([delegate], [("c1", "delegate", {"path": "x"})]))

    turn = await stage.say()

    assert turn.status == "failed"
    assert "send" in (turn.error or "")
    assert "interlock.effect" in (turn.error or "")
    turn = await stage.say("go on")
    assert turn.status == "paused"
    assert shown(turn.request)["title"].startswith("delegate ")
    assert deeds.done == ["send x"]


@on_sqlite
@unsaved
async def test_an_ask_after_an_effect_around_an_unsaved_graph_repeats_nothing(
    host: Host, called: Callable[[Any], Helper]
) -> None:
    deeds = Deeds()
    helper = called(sending(deeds))

    @tool
    async def delegate(path: str) -> str:
        """Let another agent do it, then ask."""

        async def do() -> str:
            await helper()
            return "sent"

        return f"{await interlock.effect('helper', do)}, {ask.clarification('and now?')}"

    stage = await host(by_hand([delegate], [("c1", "delegate", {"path": "x"})]))
    turn = await stage.say()

    turn = await stage.tell(turn.request, "nothing")

    assert turn.status == "done", turn.error
    assert await stage.results() == {"c1": "sent, nothing"}
    assert deeds.done == ["send x"]


@on_sqlite
async def test_an_ask_inside_a_graph_that_is_saved_at_its_exit_goes_on_where_it_stood(host: Host) -> None:
    deeds = Deeds()

    @tool
    async def send(path: str) -> str:
        """Send."""
        deeds.note(f"send {path}")
        return "sent"

    @tool
    async def consult(path: str) -> str:
        """Ask."""
        return ask.clarification("and now?")

    inner = by_hand([send, consult], [("d1", "send", {"path": "x"})], [("d2", "consult", {"path": "x"})])
    delegate = delegating(saved_at_exit(inner))
    stage = await host(by_hand([delegate], [("c1", "delegate", {"path": "x"})]))
    turn = await stage.say()

    turn = await stage.tell(turn.request, "nothing")

    assert turn.status == "done", turn.error
    assert deeds.done == ["send x"]


@on_sqlite
async def test_a_graph_without_saver_runs_and_its_effects_are_known_as_not_kept(host: Host) -> None:
    deeds = Deeds()
    delegate = delegating(without_saver(sending(deeds)))
    stage = await host(by_hand([delegate], [("c1", "delegate", {"path": "x"})]))

    turn = await stage.say()

    assert turn.status == "done", turn.error
    outer, inner = await stage.effects(EffectState.DONE)
    assert (outer.tool, outer.key.is_kept, inner.tool, inner.key.is_kept) == ("delegate", True, "send", False)
    assert inner.parent == outer.key


def consulting(question: Callable[[], Any]) -> Any:
    @tool
    async def consult(path: str) -> str:
        """Ask."""
        return str(question())

    return by_hand([consult], [("d1", "consult", {"path": "x"})])


@on_sqlite
@pytest.mark.parametrize("called", [without_saver, inside_one_without_saver])
@pytest.mark.parametrize("question", [lambda: interrupt("?"), lambda: ask.clarification("?")])
async def test_an_ask_in_a_graph_without_saver_fails_the_run_and_is_not_asked_for_ever(
    host: Host, called: Callable[[Any], Helper], question: Callable[[], Any]
) -> None:
    delegate = delegating(called(consulting(question)))
    stage = await host(by_hand([delegate], [("c1", "delegate", {"path": "x"})]))

    turn = await stage.say()

    assert turn.status == "failed"
    assert "checkpointer=False" in (turn.error or "")


@on_sqlite
@pytest.mark.parametrize("called", [with_thread, with_thread_only])
async def test_an_ask_in_a_graph_with_a_thread_of_its_own_fails_the_run_since_nobody_would_be_asked(
    host: Host, called: Callable[[Any], Helper]
) -> None:
    delegate = delegating(called(consulting(lambda: ask.clarification("?"))))
    stage = await host(by_hand([delegate], [("c1", "delegate", {"path": "x"})]))

    turn = await stage.say()

    assert turn.status == "failed"
    assert "put to nobody" in (turn.error or "")
    assert "thread_id" in (turn.error or "")


@on_sqlite
async def test_an_interrupt_in_a_graph_with_a_thread_of_its_own_is_logged_and_may_be_answered_by_its_caller(
    host: Host, caplog: pytest.LogCaptureFixture
) -> None:
    heard = list[str]()
    helper = consulting(lambda: heard.append(interrupt("?"))).compile(checkpointer=InMemorySaver())
    own: Any = {"configurable": {"thread_id": "own"}}

    async def call() -> None:
        asked = await helper.ainvoke(GIVEN, own)
        await helper.ainvoke(Command(resume=f"{asked['__interrupt__'][0].value} yes"), own)

    stage = await host(by_hand([delegating(call)], [("c1", "delegate", {"path": "x"})]))

    turn = await stage.say()

    assert turn.status == "done", turn.error
    assert heard == ["? yes"]
    assert any("put to nobody" in record.getMessage() for record in caplog.records)
