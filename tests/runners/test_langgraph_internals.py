"""Fails when a LangGraph release moves anything that `agents/_langgraph.py` reaches into."""

import inspect
from typing import Any

import langgraph.types
import pytest
from langgraph._internal import _constants
from langgraph._internal._scratchpad import PregelScratchpad
from langgraph.prebuilt.tool_node import ToolCallRequest, ToolNode
from langgraph.pregel._algo import LazyAtomicCounter
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from interlock.agents import _langgraph
from interlock.agents._langgraph import Positions, task_id
from interlock.agents.effects import install
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import by_hand, line


class Heard(TypedDict, total=False):
    topic: str
    heard: Any


def test_the_configurable_keys_are_where_they_were() -> None:
    assert _langgraph.CHECKPOINTER == _constants.CONFIG_KEY_CHECKPOINTER
    assert _langgraph.STRICT_RESUME == _constants.CONFIG_KEY_STRICT_RESUME
    for name in ("CONFIG_KEY_SCRATCHPAD", "CONFIG_KEY_TASK_ID"):
        assert isinstance(getattr(_constants, name), str)


def test_the_scratchpad_counts_interrupts_with_a_counter_that_can_be_replaced() -> None:
    fields: Any = PregelScratchpad.__dataclass_fields__
    assert {"interrupt_counter", "resume"} <= set(fields)
    counter: Any = LazyAtomicCounter()
    assert counter._counter is None
    assert [counter(), counter()] == [0, 1]
    counter._counter = iter([7, 8]).__next__
    assert counter() == 7


@pytest.mark.parametrize("method", ["_execute_tool_async", "_execute_tool_sync"])
def test_tool_nodes_execute_a_call_in_one_place(method: str) -> None:
    install()
    install()
    found = inspect.unwrap(getattr(ToolNode, method))
    assert list(inspect.signature(found).parameters) == ["self", "request", "input_type", "config"]
    source = inspect.getsource(ToolNode)
    assert source.count("tool.invoke(call_args, config)") == 1
    assert source.count("tool.ainvoke(call_args, config)") == 1


def test_tool_nodes_run_one_call_in_one_place_and_keep_their_wrappers_by_name() -> None:
    for method in ("_run_one", "_arun_one"):
        parameters = list(inspect.signature(getattr(ToolNode, method)).parameters)
        assert len(parameters) == 4

    def wrap(request: Any, execute: Any) -> Any:
        return execute(request)

    node: Any = ToolNode([Deeds().tool("send")], wrap_tool_call=wrap)
    assert node._wrap_tool_call is not None
    assert node._awrap_tool_call is None


def test_a_tool_call_request_tells_its_call_its_tool_and_the_state() -> None:
    assert {"tool_call", "tool", "state", "runtime"} <= set(ToolCallRequest.__dataclass_fields__)
    assert callable(ToolCallRequest.override)


@on_sqlite
async def test_a_task_has_the_same_id_when_it_is_run_again(host: Host) -> None:
    ids: list[str] = []

    def node(state: Heard) -> Heard:
        ids.append(task_id())
        return {"heard": interrupt("?")}

    stage = await host(line(Heard, node))
    turn = await stage.say()
    await stage.tell(turn.request, "x")
    assert len(ids) == 2
    assert len(set(ids)) == 1


@on_sqlite
async def test_positions_are_what_interrupts_are_answered_by(host: Host) -> None:
    seen: list[tuple[bool, int, int]] = []

    def node(state: Heard) -> Heard:
        positions = Positions()
        before = positions.used
        first: Any = interrupt("first?")
        seen.append((positions.has_answers, before, positions.used))
        positions = Positions()
        second: Any = interrupt("second?")
        return {"heard": [first, second, positions.used]}

    stage = await host(line(Heard, node))
    turn = await stage.say()
    turn = await stage.tell(turn.request, "1")
    turn = await stage.tell(turn.request, "2")
    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"] == ["1", "2", 2]
    assert seen == [(True, 0, 1), (True, 0, 1)]


@on_sqlite
async def test_a_used_up_position_is_not_answered_to_the_next_question(host: Host) -> None:
    skip: list[int] = []

    def node(state: Heard) -> Heard:
        Positions().use(len(skip))
        first = None if skip else interrupt("first?")
        skip.append(1)
        return {"heard": [first, interrupt("second?")]}

    stage = await host(line(Heard, node))
    turn = await stage.say()
    turn = await stage.tell(turn.request, "1")
    assert turn.request.body["question"] == "second?"
    turn = await stage.tell(turn.request, "2")
    assert (await stage.values())["heard"][1] == "2"


@on_sqlite
async def test_a_strict_resume_refuses_an_interrupt_that_is_not_pending(host: Host) -> None:
    def node(state: Heard) -> Heard:
        return {"heard": interrupt("?")}

    stage = await host(line(Heard, node))
    turn = await stage.say()
    await stage.close()
    await stage.answer(turn.request, {"answer": "x"})
    dying = await stage.dying()
    resume: Any = Command(resume={"0" * 32: "stale"})
    with pytest.raises(Exception, match="0" * 32):
        await stage.graph.ainvoke(resume, dying.config, durability="sync")


async def test_outside_of_a_hosted_run_tool_nodes_work_as_ever() -> None:
    install()
    deeds = Deeds()
    graph = by_hand([deeds.tool("send")], [("c1", "send", {"path": "a"})]).compile()
    result = await graph.ainvoke({"messages": [("user", "go")]})
    assert result["messages"][-1].text == "done"
    assert graph.invoke({"messages": [("user", "go")]})["messages"][-1].text == "done"
    assert deeds.done == ["send a", "send a"]


def test_interrupt_can_be_guarded_for_those_who_imported_it_before() -> None:
    before = langgraph.types.interrupt
    install()
    assert langgraph.types.interrupt is before is interrupt
    assert "guarded_interrupt" in interrupt.__code__.co_names
    parameters = inspect.signature(interrupt).parameters
    assert list(parameters) == ["value", "response_schema"]
    assert parameters["response_schema"].kind is inspect.Parameter.KEYWORD_ONLY
    original: Any = _langgraph._original_interrupt  # pyright: ignore[reportPrivateUsage]
    assert list(inspect.signature(original).parameters) == list(parameters)
    assert original.__kwdefaults__ == {"response_schema": None}


def test_an_interrupts_id_is_made_of_its_place_and_position() -> None:
    ids = {langgraph.types._interrupt_id("node:task", position) for position in range(3)}  # pyright: ignore[reportPrivateUsage]
    assert len(ids) == 3
    assert all(len(one) == 32 for one in ids)
