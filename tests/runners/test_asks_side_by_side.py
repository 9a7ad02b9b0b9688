"""Asks that run side by side in one node or tool: each is asked once, and hears its own answer."""

import asyncio
import random
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt
from typing_extensions import TypedDict

import interlock
from interlock import ask
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import by_hand, line
from tests.runners.stage import Stage, answer_with_itself, words_of

pytestmark = pytest.mark.promise("P4", "P8")


class State(TypedDict, total=False):
    topic: str
    heard: Any


class Gathered:
    """Asks about all at once, in one line, each after another while in each attempt."""

    def __init__(self, seed: int, names: list[str]) -> None:
        self.random, self.names = random.Random(seed), names
        self.heard: list[tuple[str, Any]] = []

    async def _reviewed(self, name: str, turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        self.heard.append((name, interrupt({"question": f"{name}?", "what": name})))

    def _all(self) -> list[Any]:
        turns = self.random.sample(range(len(self.names) * 3), len(self.names))
        return [self._reviewed(name, count) for name, count in zip(self.names, turns, strict=True)]

    async def gather(self, state: State) -> State:
        await asyncio.gather(*self._all())
        return {}

    async def gather_and_cancel(self, state: State) -> State:
        tasks = [asyncio.create_task(one) for one in self._all()]
        try:
            await asyncio.gather(*tasks)
        finally:
            for one in tasks:
                one.cancel()
        return {}

    async def threads(self, state: State) -> State:
        def review(name: str) -> None:
            self.heard.append((name, interrupt({"question": f"{name}?", "what": name})))

        names = self.random.sample(self.names, len(self.names))
        await asyncio.gather(*[asyncio.to_thread(review, name) for name in names])
        return {}


@on_sqlite
@pytest.mark.parametrize("kind", ["gather", "gather_and_cancel", "threads"])
@pytest.mark.parametrize("seed", range(4))
async def test_asks_side_by_side_are_each_asked_once_and_hear_their_own_answer(
    host: Host, seed: int, kind: str
) -> None:
    gathered = Gathered(seed, [f"n{number}" for number in range(7)])
    stage = await host(line(State, getattr(gathered, kind)))

    asked = await answer_with_itself(stage, await stage.say())

    assert sorted(asked) == sorted(f"{name}?" for name in gathered.names)
    assert all(heard == f"yes, {name}?" for name, heard in gathered.heard if name)
    assert {heard for _, heard in gathered.heard} == {f"yes, {name}?" for name in gathered.names}


@on_sqlite
async def test_what_still_runs_beside_a_node_that_asked_is_given_no_answer(host: Host) -> None:
    """It was left behind by an attempt that is over; the next one runs it again."""
    late, entries, left_behind = asyncio.Event(), list[int](), list[asyncio.Task[Any]]()

    async def slowly() -> Any:
        await late.wait()
        return interrupt("slow?")

    async def node(state: State) -> State:
        entries.append(1)
        if len(entries) == 1:
            interrupt("slow?")
        left_behind.append(asyncio.create_task(slowly()))
        return {"heard": interrupt("quick?")}

    stage = await host(line(State, node))
    turn = await stage.say()
    turn = await stage.tell(turn.request, "yes")
    assert words_of(turn.request) == "quick?"
    late.set()

    (outcome,) = await asyncio.gather(*left_behind, return_exceptions=True)

    assert isinstance(outcome, GraphInterrupt)


class Grouped:
    """Asks about all of them in a task group, from wherever."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

        @tool
        async def review(what: str) -> str:
            """Review."""
            return await self.all()

        @tool
        def review_sync(what: str) -> str:
            """Review."""
            return asyncio.run(self.all())

        self.tools = [review, review_sync]

    async def all(self) -> str:
        async with asyncio.TaskGroup() as group, asyncio.TaskGroup() as inner:
            found = [one.create_task(self._one(name)) for name, one in (("a", group), ("b", inner), ("c", inner))]
        return ", ".join(one.result() for one in found)

    async def _one(self, name: str) -> str:
        return ask.clarification(f"{name}?", timeout=None)

    async def node(self, state: State) -> State:
        return {"heard": await self.all()}

    async def effect(self, state: State) -> State:
        return {"heard": await interlock.effect("all", self.all)}


def grouped_graph(kind: str, grouped: Grouped, **of_node: Any) -> Any:
    if kind.startswith("review"):
        return by_hand(grouped.tools, [("c1", kind, {"what": "x"})], **of_node)
    return line(State, getattr(grouped, kind))


async def heard(stage: Stage) -> str:
    return (await stage.results()).get("c1") or (await stage.values())["heard"]


@pytest.mark.parametrize("kind", ["node", "effect", "review", "review_sync"])
async def test_all_asks_of_a_task_group_are_put_to_people_at_once(host: Host, kind: str) -> None:
    stage = await host(grouped_graph(kind, Grouped()))
    turn = await stage.say()
    assert turn.status == "paused", turn.error
    assert sorted(words_of(one) for one in turn.requests) == ["a?", "b?", "c?"]

    *others, last = sorted(turn.requests, key=words_of, reverse=True)
    for one in others:
        await stage.answer(one, {"answer": f"yes, {words_of(one)}"})
    turn = await stage.tell(last, f"yes, {words_of(last)}")

    assert turn.status == "done", turn.error
    assert await heard(stage) == "yes, a?, yes, b?, yes, c?"


@on_sqlite
@pytest.mark.parametrize("kind", ["review", "review_sync"])
async def test_a_tool_whose_task_group_is_not_answered_has_that_as_its_result(host: Host, kind: str) -> None:
    stage = await host(grouped_graph(kind, Grouped()))
    turn = await stage.say()
    *others, last = turn.requests
    for one in others:
        await stage.answer(one, None)

    turn = await stage.reply(last, None)

    assert turn.status == "done", turn.error
    assert (await heard(stage)).startswith("Not answered")


@on_sqlite
async def test_a_tool_node_that_hands_errors_to_the_model_lets_a_task_group_ask(host: Host) -> None:
    stage = await host(grouped_graph("review", Grouped(), handle_tool_errors=True))

    turn = await stage.say()

    assert turn.status == "paused", turn.error
    assert len(turn.requests) == 3


@on_sqlite
async def test_a_failure_in_a_task_group_is_a_failure(host: Host) -> None:
    async def fails() -> None:
        raise ValueError("it broke")

    async def node(state: State) -> State:
        async def asks() -> None:
            interrupt("?")

        async with asyncio.TaskGroup() as group:
            group.create_task(asks())
            group.create_task(fails())
        return {}

    stage = await host(line(State, node))

    turn = await stage.say()

    assert turn.status == "failed"
    assert turn.error is not None
    assert "ExceptionGroup" in turn.error


@on_sqlite
async def test_a_plain_node_sees_that_its_task_group_was_not_answered(host: Host) -> None:
    async def node(state: State) -> State:
        found: list[str] = []
        try:
            await Grouped().all()
        except* ask.NotAnswered as group:
            found += [str(one) for one in group.exceptions]
        return {"heard": found}

    stage = await host(line(State, node))
    turn = await stage.say()
    *others, last = turn.requests
    for one in others:
        await stage.answer(one, None)

    turn = await stage.reply(last, None)

    assert turn.status == "done", turn.error
    assert len((await stage.values())["heard"]) > 0
