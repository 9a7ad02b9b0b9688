"""Every ask is given the answer that was given to it, and no other: whoever was cut short, left out or came first."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.types import interrupt
from sqlalchemy import update
from typing_extensions import TypedDict

import interlock
from interlock import ask
from interlock.agents._langgraph import INTERRUPT
from interlock.domain.errors import LeaseLost
from interlock.services.runs import lifecycle
from interlock.storage.checkpoints import CheckpointSaver
from interlock.storage.schema import effects
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import by_hand, line
from tests.runners.stage import Stage, Turn
from tests.support.bodies import shown

pytestmark = pytest.mark.promise("P8")

WORDS = [{"decision": "skip"}, {"decision": "done", "reason": "it is gone"}, None]


class State(TypedDict, total=False):
    topic: str
    heard: Any


class Deleting:
    """Deletes what it is told to once a person said yes, and is cut short the first time it has begun to."""

    def __init__(self) -> None:
        self.deeds, self.gate = Deeds(), Gate()

        @tool
        async def delete(what: str) -> str:
            """Delete."""
            return await self.delete(what)

        self.tool = delete
        self.calls = [(f"c-{what}", "delete", {"what": what}) for what in ("staging", "PRODUCTION")]

    async def delete(self, what: str) -> str:
        if ask.clarification(f"Delete {what}?") != "yes":
            return f"kept {what}"
        self.deeds.note(what)
        await self.gate.stop()
        return f"deleted {what}"

    async def node(self, state: State) -> State:
        async def staging() -> str:
            return await self.delete("staging")

        async def production() -> str:
            return await self.delete("PRODUCTION")

        for key, delete in (("one", staging), ("two", production)):
            with suppress(interlock.EffectSkipped):
                await interlock.effect(key, delete)
        return {}


async def yes_then_killed(stage: Stage, turn: Turn, gate: Gate) -> Turn:
    """Say yes to what is asked, kill the worker inside of what follows, and see what the next one asks."""
    await stage.close()
    settled = await stage.answer(turn.request, {"answer": "yes"})
    assert settled.run is not None
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()
    await stage.start()
    return await stage.ended(settled.run, settled.seq)


async def answer_each(stage: Stage, turn: Turn) -> Turn:
    """Answer every question with its own text, upper case; each is asked a few times at the most."""
    for _ in range(6):
        if turn.status != "paused":
            break
        turn = await stage.tell(turn.request, shown(turn.request)["question"].upper())
    return turn


def graph_of(kind: str, deleting: Deleting) -> Any:
    return by_hand([deleting.tool], deleting.calls) if kind == "tool node" else line(State, deleting.node)


@pytest.mark.parametrize("kind", ["tool node", "plain node"])
@pytest.mark.parametrize("word", WORDS)
async def test_a_yes_to_an_effect_that_was_cut_short_and_left_out_is_not_the_next_ones(
    host: Host, kind: str, word: Any
) -> None:
    deleting = Deleting()
    stage = await host(graph_of(kind, deleting))
    turn = await stage.say()
    assert shown(turn.request)["question"] == "Delete staging?"
    turn = await yes_then_killed(stage, turn, deleting.gate)
    assert shown(turn.request)["decision_type"] == "effect_in_doubt"

    turn = await stage.reply(turn.request, word)

    assert turn.status == "paused", turn.error
    assert shown(turn.request)["question"] == "Delete PRODUCTION?"
    assert deleting.deeds.done == ["staging"]
    turn = await stage.tell(turn.request, "no")
    assert turn.status == "done", turn.error
    assert deleting.deeds.done == ["staging"]


@pytest.mark.parametrize("kind", ["tool node", "plain node"])
async def test_an_effect_left_out_by_an_earlier_version_does_not_pass_its_answer_on(host: Host, kind: str) -> None:
    """Its record says that it used up no answer: who asked then tells that the answer was not for this ask."""
    deleting = Deleting()
    stage = await host(graph_of(kind, deleting))
    turn = await yes_then_killed(stage, await stage.say(), deleting.gate)
    async with stage.database.write() as connection:
        await connection.execute(update(effects).values(asks=0))

    turn = await stage.reply(turn.request, {"decision": "skip"})

    assert turn.status == "paused", turn.error
    assert shown(turn.request)["question"] == "Delete PRODUCTION?"
    turn = await stage.tell(turn.request, "yes")
    assert turn.status == "done", turn.error
    assert deleting.deeds.done == ["staging", "PRODUCTION"]


async def dies(*_: Any, **__: Any) -> Any:
    raise asyncio.CancelledError


async def test_a_worker_that_dies_after_it_dropped_an_answer_asks_the_same_again(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    deleting = Deleting()
    stage = await host(graph_of("tool node", deleting))
    turn = await yes_then_killed(stage, await stage.say(), deleting.gate)
    await stage.close()
    async with stage.database.write() as connection:
        await connection.execute(update(effects).values(asks=0))
    settled = await stage.answer(turn.request, {"decision": "skip"})
    assert settled.run is not None
    run = await stage.dying()
    with monkeypatch.context() as broken:
        broken.setattr(lifecycle, "open_pause", dies)
        with pytest.raises(asyncio.CancelledError):
            await run.execute()
    await stage.start()

    turn = await stage.ended(settled.run, settled.seq)

    assert turn.status == "paused", turn.error
    assert shown(turn.request)["question"] == "Delete PRODUCTION?"
    turn = await stage.tell(turn.request, "no")
    assert turn.status == "done", turn.error
    assert deleting.deeds.done == ["staging"]


async def test_a_retried_effect_is_given_its_own_answer_again(host: Host) -> None:
    deleting = Deleting()
    stage = await host(graph_of("tool node", deleting))
    turn = await yes_then_killed(stage, await stage.say(), deleting.gate)

    turn = await stage.reply(turn.request, {"decision": "retry"})

    assert shown(turn.request)["question"] == "Delete PRODUCTION?"
    assert deleting.deeds.done == ["staging", "staging"]


@on_sqlite
@pytest.mark.parametrize("first", ["a", "b"])
async def test_effects_side_by_side_in_a_node_hear_their_own_answers_whoever_comes_first(
    host: Host, first: str
) -> None:
    """The one that came first in the first attempt comes last in all others."""
    attempts = 0

    async def node(state: State) -> State:
        nonlocal attempts
        attempts += 1
        leads = first if attempts == 1 else "ab".replace(first, "")

        async def asking(name: str) -> str:
            async def work() -> str:
                return ask.clarification(f"{name}?")

            await asyncio.sleep(0 if name == leads else 0.02)
            return await interlock.effect(name, work)

        return {"heard": await asyncio.gather(asking("a"), asking("b"))}

    stage = await host(line(State, node))
    turn = await answer_each(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"] == ["A?", "B?"]


@on_sqlite
async def test_plain_interrupts_side_by_side_in_a_node_hear_their_own_answers(host: Host) -> None:
    attempts = 0

    async def node(state: State) -> State:
        nonlocal attempts
        attempts += 1
        leads = "b" if attempts == 2 else "a"

        async def asking(name: str) -> Any:
            await asyncio.sleep(0 if name == leads else 0.02)
            return interrupt(f"{name}?")

        found = await asyncio.gather(asking("a"), asking("b"), return_exceptions=True)
        for one in found:
            if isinstance(one, BaseException):
                raise one
        return {"heard": found}

    stage = await host(line(State, node))
    turn = await answer_each(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"] == ["A?", "B?"]


@on_sqlite
async def test_two_calls_that_ask_in_the_same_words_are_asked_about_each(host: Host) -> None:
    deeds, gate = Deeds(), Gate()

    @tool
    async def delete(what: str) -> str:
        """Delete."""
        if ask.clarification("Sure?") == "yes":
            deeds.note(what)
            await gate.stop()
        return what

    made = [(f"c-{what}", "delete", {"what": what}) for what in ("staging", "PRODUCTION")]
    stage = await host(by_hand([delete], made))
    turn = await yes_then_killed(stage, await stage.say(), gate)
    async with stage.database.write() as connection:
        await connection.execute(update(effects).values(asks=0))

    turn = await stage.reply(turn.request, {"decision": "skip"})

    assert turn.status == "paused"
    assert shown(turn.request)["question"] == "Sure?"
    assert deeds.done == ["staging"]


async def test_an_answer_that_a_graph_inside_a_tool_took_before_the_crash_is_not_taken_again(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The inner graph has saved that it asks its next question, and the outer one has not: the answer is sent again."""
    deleting = Deleting()
    deleting.gate.times = 1
    inner = by_hand([deleting.tool], deleting.calls).compile()

    @tool
    async def delegate(path: str) -> str:
        """Let another agent do it."""
        return (await inner.ainvoke({"messages": [("user", path)]}))["messages"][-1].text

    stage = await host(by_hand([delegate], [("d1", "delegate", {"path": "x"})]))
    turn = await stage.say()
    await stage.close()
    settled = await stage.answer(turn.request, {"answer": "yes"})
    assert settled.run is not None
    write = CheckpointSaver.aput_writes

    async def dies_outside(self: Any, config: Any, writes: Any, *more: Any) -> None:
        if not config["configurable"]["checkpoint_ns"] and any(channel == INTERRUPT for channel, _ in writes):
            raise LeaseLost("the worker is gone")
        await write(self, config, writes, *more)

    with monkeypatch.context() as broken:
        broken.setattr(CheckpointSaver, "aput_writes", dies_outside)
        with pytest.raises(LeaseLost):
            await (await stage.dying()).execute()
    assert deleting.deeds.done == ["staging"]
    await stage.start()

    turn = await stage.ended(settled.run, settled.seq)

    assert turn.status == "paused", turn.error
    assert shown(turn.request)["question"] == "Delete PRODUCTION?"
    assert deleting.deeds.done == ["staging"]
    turn = await stage.tell(turn.request, "no")
    assert turn.status == "done", turn.error
    assert deleting.deeds.done == ["staging"]


@on_sqlite
async def test_a_question_that_another_line_asks_takes_no_answer_of_one_that_is_left_out(host: Host) -> None:
    attempts: list[int] = []

    async def node(state: State) -> State:
        attempts.append(1)
        first: Any = interrupt("Over budget, go on?") if len(attempts) == 1 else None
        return {"heard": [first, interrupt("Deploy to PRODUCTION?")]}

    stage = await host(line(State, node))
    turn = await stage.say()
    turn = await stage.tell(turn.request, "go on")

    assert turn.status == "paused", turn.error
    assert shown(turn.request)["question"] == "Deploy to PRODUCTION?"
    turn = await stage.tell(turn.request, "later")
    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"] == [None, "later"]


@on_sqlite
@pytest.mark.parametrize(
    "value",
    [{"q": "again?", "error": ValueError("it broke")}, {"of": {"a", "b", "c", "d"}}, {(1, 2): "x", "q": "?"}],
    ids=["an error", "a set", "a tuple for a key"],
)
async def test_what_a_saver_gives_back_otherwise_is_asked_once(host: Host, value: Any) -> None:
    async def node(state: State) -> State:
        return {"heard": interrupt(value)}

    stage = await host(line(State, node))
    turn = await stage.say()
    assert turn.status == "paused", turn.error

    turn = await stage.tell(turn.request, "as you like")

    assert turn.status == "done", turn.error
