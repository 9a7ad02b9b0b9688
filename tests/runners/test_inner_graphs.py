"""Graphs that several calls or effects of one task call: each goes on with its own state, whoever comes first."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.func import task
from langgraph.graph import MessagesState
from langgraph.prebuilt import ToolNode
from langgraph.types import RetryPolicy

import interlock
from interlock import ask
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import agent, by_hand, calls, line
from tests.runners.stage import Stage, Turn, words_of

pytestmark = [pytest.mark.promise("P4", "P6")]
NAMES = ("left", "middle", "right")
DONE = [f"{what} {name}" for name in NAMES for what in ("begin", "end")]


def worker(deeds: Deeds, name: str) -> Any:
    """An agent that acts, asks and acts; its calls have the ids that those of the others have, too."""

    def consult(path: str) -> str:
        heard = ask.clarification(f"{path}?", timeout=None)
        deeds.note(f"end {path}" if heard == f"yes, {path}?" else f"misheard {path}")
        return heard

    asking = StructuredTool.from_function(consult, name="consult", description="ask, then act")
    tools = [deeds.tool("begin"), asking]
    made = [[("c1", used.name, {"path": name})] for used in tools]
    return agent(tools, *made, AIMessage(f"finished {name}"))


class Workers:
    def __init__(self, deeds: Deeds) -> None:
        self.agents = {name: worker(deeds, name) for name in NAMES}

    async def work(self, name: str) -> str:
        return (await self.agents[name].ainvoke({"messages": [("user", name)]}))["messages"][-1].text

    def work_sync(self, name: str) -> str:
        return self.agents[name].invoke({"messages": [("user", name)]})["messages"][-1].text


def async_tools(workers: Workers) -> Any:
    @tool
    async def delegate(name: str) -> str:
        """Let an agent do it."""
        return await workers.work(name)

    return by_hand([delegate], [(f"t-{name}", "delegate", {"name": name}) for name in NAMES])


def sync_tools(workers: Workers) -> Any:
    @tool
    def delegate(name: str) -> str:
        """Let an agent do it."""
        return workers.work_sync(name)

    return by_hand([delegate], [(f"t-{name}", "delegate", {"name": name}) for name in NAMES])


def tools_with_one_id(workers: Workers) -> Any:
    @tool
    async def delegate(name: str) -> str:
        """Let an agent do it."""
        return await workers.work(name)

    return by_hand([delegate], [("t", "delegate", {"name": name}) for name in NAMES])


def tool_nodes_by_hand(workers: Workers) -> Any:
    @tool
    async def delegate(name: str) -> str:
        """Let an agent do it."""
        return await workers.work(name)

    async def node(state: MessagesState) -> dict[str, Any]:
        for name in NAMES:
            await ToolNode([delegate]).ainvoke({"messages": [calls(("t", "delegate", {"name": name}))]})
        return {}

    return line(MessagesState, node)


def one_task_each(workers: Workers) -> Any:
    """`create_agent` sends each call to a task of its own."""

    @tool
    async def delegate(name: str) -> str:
        """Let an agent do it."""
        return await workers.work(name)

    return agent([delegate], [(f"t-{name}", "delegate", {"name": name}) for name in NAMES])


Each = Callable[[Callable[[str], Any]], Awaitable[Any]]


def effects(each: Each) -> Callable[[Workers], Any]:
    """Effects of one node, each with an agent inside."""

    def build(workers: Workers) -> Any:
        async def node(state: MessagesState) -> dict[str, Any]:
            async def effect(name: str) -> str:
                async def work() -> str:
                    return await workers.work(name)

                return await interlock.effect(name, work)

            await each(effect)
            return {}

        return line(MessagesState, node)

    return build


def effects_in_threads(workers: Workers) -> Any:
    def node(state: MessagesState) -> dict[str, Any]:
        with ThreadPoolExecutor(len(NAMES)) as pool:
            started = [
                pool.submit(
                    contextvars.copy_context().run, interlock.effect, name, lambda name=name: workers.work_sync(name)
                )
                for name in NAMES
            ]
            [one.result() for one in started]
        return {}

    return line(MessagesState, node)


async def in_line(effect: Callable[[str], Any]) -> None:
    for name in NAMES:
        await effect(name)


async def gathered(effect: Callable[[str], Any]) -> None:
    await asyncio.gather(*map(effect, NAMES))


class Shuffled:
    """Side by side, each time in another order."""

    def __init__(self) -> None:
        self.orders = [NAMES, NAMES[::-1], (NAMES[1], NAMES[0], NAMES[2])]

    async def __call__(self, effect: Callable[[str], Any]) -> None:
        self.orders = [*self.orders[1:], self.orders[0]]
        await asyncio.gather(*map(effect, self.orders[0]))


BUILDS: dict[str, Callable[[Workers], Any]] = {
    **{
        build.__name__: build
        for build in (async_tools, sync_tools, tools_with_one_id, tool_nodes_by_hand, one_task_each, effects_in_threads)
    },
    "effects_in_line": effects(in_line),
    "effects_gathered": effects(gathered),
    "effects_shuffled": effects(Shuffled()),
}
built = pytest.mark.parametrize("build", list(BUILDS.values()), ids=list(BUILDS))


async def answered(stage: Stage, turn: Turn) -> tuple[Turn, list[str]]:
    """Say yes to all that is asked, and to each by its own name."""
    asked: list[str] = []
    while turn.status == "paused" and len(asked) < 10:
        *others, last = turn.requests
        asked += [words_of(request) for request in turn.requests]
        for request in others:
            await stage.answer(request, {"answer": f"yes, {words_of(request)}"})
        turn = await stage.tell(last, f"yes, {words_of(last)}")
    return turn, asked


@built
async def test_agents_of_one_task_each_come_to_their_end_once(host: Host, build: Any) -> None:
    deeds = Deeds()
    stage = await host(build(Workers(deeds)))

    turn, asked = await answered(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert sorted(deeds.done) == sorted(DONE)
    assert sorted(asked) == sorted(f"{name}?" for name in NAMES)


@on_sqlite
async def test_tasks_that_calls_of_one_message_start_are_each_done_once(host: Host) -> None:
    """LangGraph knows a `@task` by its number, too: the second call was given the result of the first one's."""
    deeds = Deeds()

    @task
    async def file(name: str) -> str:
        deeds.note(f"file {name}")
        return f"filed {name}"

    @tool
    async def keep(name: str) -> str:
        """Ask, then have it filed."""
        return f"{ask.clarification(f'{name}?')}: {await file(name)}"

    stage = await host(by_hand([keep], [(f"t-{name}", "keep", {"name": name}) for name in NAMES]))

    turn, _ = await answered(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert deeds.done == [f"file {name}" for name in NAMES]
    assert await stage.results() == {f"t-{name}": f"yes, {name}?: filed {name}" for name in NAMES}


@on_sqlite
async def test_an_agent_inside_an_effect_goes_on_when_its_node_is_tried_again(host: Host) -> None:
    deeds, attempts = Deeds(), list[int]()
    workers = Workers(deeds)

    async def node(state: MessagesState) -> dict[str, Any]:
        async def work() -> str:
            found = await workers.work("left")
            attempts.append(1)
            if len(attempts) < 2:
                raise ConnectionError("try again")
            return found

        await interlock.effect("left", work, idempotent=True)
        return {}

    builder = line(MessagesState)
    policy = RetryPolicy(initial_interval=0, jitter=False, retry_on=ConnectionError)
    builder.add_node("node", node, retry_policy=policy).add_edge("__start__", "node").add_edge("node", "__end__")
    stage = await host(builder)

    turn, asked = await answered(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert (deeds.done, asked) == (["begin left", "end left"], ["left?"])
