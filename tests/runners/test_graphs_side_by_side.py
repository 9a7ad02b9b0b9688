"""Graphs that one task calls side by side, in another order each time: each goes on with its own state and answer."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.tools import tool
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt
from sqlalchemy import select, update
from typing_extensions import TypedDict

import interlock
from interlock.agents import _langgraph_beside as beside
from interlock.agents._langgraph_numbers import NUMBERED
from interlock.storage.schema import checkpoints
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import agent, line
from tests.runners.stage import SECONDS, Stage, Turn, words_of

pytestmark = pytest.mark.promise("P6", "P8")
TARGETS = ("staging", "PRODUCTION", "dev")


class Confirm(TypedDict):
    what: str
    messages: list[Any]
    note: str
    agreed: bool


class Purge:
    """Notes what is deleted, each by the word of its own graph; comes to the graphs in another order each time."""

    def __init__(self) -> None:
        self.deeds, self.deleted = Deeds(), set[str]()
        self.mailed: Sequence[str] = TARGETS
        self.orders = [TARGETS, TARGETS[::-1], (TARGETS[1], TARGETS[2], TARGETS[0]), TARGETS[::-1]]
        self.graph = line(Confirm, self.announce, self.confirm).compile()

    def announce(self, state: Confirm) -> dict[str, Any]:
        what = state["what"]
        if what in self.mailed:
            interlock.effect("mail", lambda: self.deeds.note(f"mail {what}"))
        return {"note": f"about {what}"}

    def confirm(self, state: Confirm) -> dict[str, Any]:
        assert state["note"] == f"about {state['what']}"
        return {"agreed": interrupt({"question": f"Delete {state['what']}?"})}

    def order(self) -> tuple[str, ...]:
        self.orders = [*self.orders[1:], self.orders[0]]
        return self.orders[-1]

    def ended(self, what: str, said: Any) -> None:
        if said["agreed"] is True:
            self.deleted.add(what)

    async def one(self, what: str) -> None:
        self.ended(what, await self.graph.ainvoke(self.given(what)))

    def one_sync(self, what: str) -> None:
        self.ended(what, self.graph.invoke(self.given(what)))

    def given(self, what: str) -> Any:
        return {"what": what, "messages": [HumanMessage(what)]}


def gathered(purge: Purge) -> Any:
    async def node(state: MessagesState) -> dict[str, Any]:
        await asyncio.gather(*map(purge.one, purge.order()))
        return {}

    return line(MessagesState, node)


def gathered_at_once(purge: Purge) -> Any:
    """Nothing of the node's own stands between `gather` and the graph."""

    async def node(state: MessagesState) -> dict[str, Any]:
        order = purge.order()
        found = await asyncio.gather(*(purge.graph.ainvoke(purge.given(what)) for what in order))
        for what, said in zip(order, found, strict=True):
            purge.ended(what, said)
        return {}

    return line(MessagesState, node)


def in_threads(purge: Purge) -> Any:
    def node(state: MessagesState) -> dict[str, Any]:
        with ThreadPoolExecutor(len(TARGETS)) as pool:
            started = [pool.submit(contextvars.copy_context().run, purge.one_sync, what) for what in purge.order()]
            [one.result() for one in started]
        return {}

    return line(MessagesState, node)


def in_a_batch(purge: Purge) -> Any:
    async def node(state: MessagesState) -> dict[str, Any]:
        order = purge.order()
        for what, said in zip(order, await purge.graph.abatch([purge.given(one) for one in order]), strict=True):
            purge.ended(what, said)
        return {}

    return line(MessagesState, node)


def in_parallel(purge: Purge) -> Any:
    def step(what: str) -> Any:
        def give(_: Any) -> Any:
            return purge.given(what)

        return RunnableLambda(give) | purge.graph

    async def node(state: MessagesState) -> dict[str, Any]:
        for what, said in (await RunnableParallel({one: step(one) for one in purge.order()}).ainvoke({})).items():
            purge.ended(what, said)
        return {}

    return line(MessagesState, node)


def in_one_tool_call(purge: Purge) -> Any:
    @tool
    async def clean() -> str:
        """Delete them all."""
        await asyncio.gather(*map(purge.one, purge.order()))
        return "cleaned"

    return agent([clean], [("c1", "clean", {})])


def in_one_effect(purge: Purge) -> Any:
    async def node(state: MessagesState) -> dict[str, Any]:
        async def clean() -> None:
            await asyncio.gather(*map(purge.one, purge.order()))

        await interlock.effect("clean", clean)
        return {}

    return line(MessagesState, node)


def in_a_runnable(purge: Purge) -> Any:
    """The node is no function, but one of LangChain's runnables."""

    async def node(state: MessagesState) -> dict[str, Any]:
        await asyncio.gather(*map(purge.one, purge.order()))
        return {}

    builder: Any = StateGraph(MessagesState)
    return builder.add_node("node", RunnableLambda(node)).add_edge(START, "node").add_edge("node", END)


def in_a_parallel_node(purge: Purge) -> Any:
    turns = [asyncio.Event() for _ in TARGETS]

    def step(what: str) -> Any:
        async def give(_: Any) -> Any:
            place = purge.orders[0].index(what)
            if place:
                await turns[place - 1].wait()
            turns[place].set()
            return purge.given(what)

        def note(said: Any) -> None:
            purge.ended(what, said)

        return RunnableLambda(give) | purge.graph | RunnableLambda(note)

    def begin(state: Any) -> Any:
        purge.order()
        for turn in turns:
            turn.clear()
        return state

    def end(_: Any) -> dict[str, Any]:
        return {}

    steps = RunnableLambda(begin) | RunnableParallel({one: step(one) for one in TARGETS}) | RunnableLambda(end)
    builder: Any = StateGraph(MessagesState)
    return builder.add_node("node", steps).add_edge(START, "node").add_edge("node", END)


def in_parallel_threads(purge: Purge) -> Any:
    """LangChain runs each of the sync functions in a thread."""

    async def node(state: MessagesState) -> dict[str, Any]:
        order = purge.order()
        turns = [threading.Event() for _ in order]

        def step(place: int) -> Any:
            def clean(_: Any) -> None:
                if place:
                    assert turns[place - 1].wait(SECONDS)
                turns[place].set()
                purge.one_sync(order[place])

            return RunnableLambda(clean)

        await RunnableParallel({what: step(place) for place, what in enumerate(order)}).ainvoke({})
        return {}

    return line(MessagesState, node)


BUILDS = [
    gathered,
    gathered_at_once,
    in_threads,
    in_a_batch,
    in_parallel,
    in_one_tool_call,
    in_one_effect,
    in_a_runnable,
    in_a_parallel_node,
    in_parallel_threads,
]
built = pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.__name__)


async def decided(stage: Stage, turn: Turn, agreed: str) -> Turn:
    """Say yes about one, and no about all others, however often each is asked."""
    for _ in range(12):
        if turn.status != "paused":
            break
        *others, last = turn.requests
        for request in others:
            await stage.answer(request, {"answer": agreed in words_of(request)})
        turn = await stage.reply(last, {"answer": agreed in words_of(last)})
    return turn


@built
@pytest.mark.parametrize("agreed", TARGETS)
async def test_a_yes_is_for_the_graph_that_asked_whoever_comes_first(
    host: Host, build: Callable[[Purge], Any], agreed: str
) -> None:
    purge = Purge()
    stage = await host(build(purge))

    turn = await decided(stage, await stage.say(), agreed)

    assert turn.status == "done", turn.error
    assert purge.deleted == {agreed}
    assert purge.deeds.counts == {f"mail {what}": 1 for what in purge.mailed}


@built
async def test_graphs_side_by_side_go_on_with_their_own_after_a_worker_died(
    host: Host, build: Callable[[Purge], Any]
) -> None:
    purge = Purge()
    stage = await host(build(purge))
    turn = await stage.say()
    for _ in range(12):
        if turn.status != "paused":
            break
        await stage.close()
        *others, last = turn.requests
        for request in others:
            await stage.answer(request, {"answer": "PRODUCTION" not in words_of(request)})
        settled = await stage.answer(last, {"answer": "PRODUCTION" not in words_of(last)})
        assert settled.run is not None
        await stage.dying()
        await stage.start()
        turn = await stage.ended(settled.run, settled.seq)

    assert turn.status == "done", turn.error
    assert purge.deleted == {"staging", "dev"}
    assert purge.deeds.counts == {f"mail {what}": 1 for what in purge.mailed}


@on_sqlite
@pytest.mark.parametrize("agreed", TARGETS)
async def test_a_task_that_is_started_beside_others_has_its_own_result(host: Host, agreed: str) -> None:
    purge = Purge()

    @task
    async def confirm(what: str) -> Any:
        return interrupt({"question": f"Delete {what}?"})

    async def one(what: str) -> None:
        purge.ended(what, {"agreed": await confirm(what)})

    @entrypoint()
    async def clean(given: Any) -> dict[str, Any]:
        await asyncio.gather(*map(one, purge.order()))
        return {"messages": []}

    stage = await host(clean)

    turn = await decided(stage, await stage.say(), agreed)

    assert turn.status == "done", turn.error
    assert purge.deleted == {agreed}


@on_sqlite
async def test_agents_without_names_that_are_given_the_same_are_told_apart_by_their_prompts(host: Host) -> None:
    heard: dict[str, str] = {}
    orders = [("law", "money"), ("money", "law"), ("law", "money")]

    def advisor(field: str) -> Any:
        @tool
        def consult() -> str:
            """Ask a person."""
            heard[field] = interrupt({"question": f"{field}?"})
            return "heard"

        return agent([consult], [("c1", "consult", {})], AIMessage("advised"), system_prompt=f"You know {field}.")

    advisors = {field: advisor(field) for field in orders[0]}

    async def node(state: MessagesState) -> dict[str, Any]:
        orders.append(orders.pop(0))
        await asyncio.gather(*(advisors[field].ainvoke({"messages": [("user", "advise")]}) for field in orders[-1]))
        return {}

    stage = await host(line(MessagesState, node))
    turn = await stage.say()
    for _ in range(6):
        if turn.status == "paused":
            turn = await stage.tell(turn.request, f"about {words_of(turn.request)}")

    assert turn.status == "done", turn.error
    assert heard == {field: f"about {field}?" for field in advisors}


@on_sqlite
@pytest.mark.parametrize("build", [gathered, in_threads])
async def test_graphs_that_an_earlier_version_told_apart_by_who_came_first_are_not_mixed_up(
    host: Host, build: Callable[[Purge], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    purge = Purge()
    stage = await host(build(purge))
    with monkeypatch.context() as earlier:
        earlier.setattr(beside, "_is_beside", lambda: False)
        turn = await stage.say()
    async with stage.database.write() as connection:
        for row in (await connection.execute(select(checkpoints))).all():
            said = {key: value for key, value in row.metadata.items() if key != NUMBERED}
            own = (checkpoints.c.ns == row.ns) & (checkpoints.c.id == row.id)
            await connection.execute(update(checkpoints).where(own).values(metadata=said))

    turn = await decided(stage, turn, "staging")

    assert turn.status == "failed"
    assert "interlock.effect(...) around each graph" in (turn.error or "")
    assert purge.deleted == set()


@on_sqlite
async def test_a_graph_whose_input_changes_goes_on_where_it_is_called_in_line(host: Host) -> None:
    times: list[int] = []
    purge = Purge()

    async def node(state: MessagesState) -> dict[str, Any]:
        times.append(1)
        said = await purge.graph.ainvoke({"what": "staging", "messages": [HumanMessage(f"time {len(times)}")]})
        purge.ended("staging", said)
        return {}

    stage = await host(line(MessagesState, node))

    turn = await decided(stage, await stage.say(), "staging")

    assert turn.status == "done", turn.error
    assert len(times) == 2
    assert purge.deleted == {"staging"}
    assert purge.deeds.done == ["mail staging"]


def test_a_name_is_the_same_whatever_ids_messages_have_been_given() -> None:
    nodes = agent([], AIMessage("x")).nodes
    first, second = HumanMessage("hello"), HumanMessage("hello", id="m1")
    assert beside.name_of(nodes, [first]) == beside.name_of(nodes, [second])
    assert beside.name_of(nodes, [first]) != beside.name_of(nodes, [HumanMessage("bye")])


@on_sqlite
async def test_a_graph_that_is_a_node_keeps_the_number_that_it_had(host: Host) -> None:
    purge = Purge()
    builder: Any = StateGraph(MessagesState)
    builder.add_node("inner", agent([purge.deeds.tool("send")], [("c1", "send", {"path": "a"})]))
    stage = await host(builder.add_edge(START, "inner").add_edge("inner", END))

    turn = await stage.say()

    assert turn.status == "done", turn.error
    async with stage.database.read() as connection:
        spaces = {row.ns for row in (await connection.execute(select(checkpoints.c.ns))).all()} - {""}
    assert spaces
    assert not any("|" in space for space in spaces), spaces
