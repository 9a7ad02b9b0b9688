"""Fails when a LangGraph release moves anything that the `_langgraph*` modules reach into."""

import inspect
from typing import Any, cast

import langgraph.types
import pytest
from langchain_core.tools import BaseTool
from langgraph._internal import _constants
from langgraph._internal._runnable import RunnableCallable, RunnableSeq
from langgraph._internal._scratchpad import PregelScratchpad
from langgraph.func import _TaskFunction  # pyright: ignore[reportPrivateUsage]
from langgraph.prebuilt.tool_node import ToolCallRequest, ToolNode
from langgraph.pregel import Pregel, _loop, _runner
from langgraph.pregel._algo import LazyAtomicCounter, should_interrupt
from langgraph.pregel._loop import AsyncPregelLoop, PregelLoop, SyncPregelLoop
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from interlock.agents import _langgraph, _langgraph_asks
from interlock.agents._langgraph import sibling_calls, task_id
from interlock.agents._langgraph_asks import Positions
from interlock.agents.effects import install
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import by_hand, calls, line


class Heard(TypedDict, total=False):
    topic: str
    heard: Any


def listen(state: Heard) -> Heard:
    return {}


def test_the_configurable_keys_are_where_they_were() -> None:
    assert _langgraph.CHECKPOINTER == _constants.CONFIG_KEY_CHECKPOINTER
    assert _langgraph.STRICT_RESUME == _constants.CONFIG_KEY_STRICT_RESUME
    for name in ("CONFIG_KEY_SCRATCHPAD", "CONFIG_KEY_TASK_ID", "CONFIG_KEY_RESUME_MAP"):
        assert isinstance(getattr(_constants, name), str)


def test_the_scratchpad_counts_interrupts_with_a_counter_that_can_be_replaced() -> None:
    fields: Any = PregelScratchpad.__dataclass_fields__
    assert {"interrupt_counter", "subgraph_counter", "call_counter", "resume"} <= set(fields)
    counter: Any = LazyAtomicCounter()
    assert counter._counter is None
    assert [counter(), counter()] == [0, 1]
    counter._counter = iter([7, 8]).__next__
    assert counter() == 7


def test_loops_look_for_breakpoints_in_their_steps_and_go_by_what_was_seen() -> None:
    for method in ("tick", "after_tick", "_put_checkpoint"):
        for loop in (SyncPregelLoop, AsyncPregelLoop):
            assert method not in vars(loop)
    source = inspect.getsource(_loop)
    assert source.count("should_interrupt(\n") == 2
    assert source.count('self._put_checkpoint({"source": "loop"})') == 1
    assert 'checkpoint["versions_seen"].get(INTERRUPT, {})' in inspect.getsource(should_interrupt)


def test_a_graph_is_given_its_number_where_its_loop_is_made() -> None:
    source = inspect.getsource(inspect.unwrap(cast("Any", PregelLoop).__init__))
    assert source.count("scratchpad.subgraph_counter()") == 1
    for loop, enter in ((AsyncPregelLoop, "__aenter__"), (SyncPregelLoop, "__enter__")):
        assert "super().__init__(" in inspect.getsource(cast("Any", loop).__init__)
        assert hasattr(loop, enter)
        assert hasattr(loop, enter.replace("enter", "exit"))


def test_a_task_is_run_in_one_place_which_knows_its_node() -> None:
    for name in ("run_with_retry", "arun_with_retry"):
        assert next(iter(inspect.signature(getattr(_runner, name)).parameters)) == "task"
    step: Any = line(Heard, listen).compile().nodes["listen"].node
    assert isinstance(step, RunnableSeq)
    assert isinstance(cast("Any", step).steps[0], RunnableCallable)


def test_a_functional_task_is_numbered_where_it_is_called() -> None:
    assert "_call_with_options(" in inspect.getsource(inspect.unwrap(cast("Any", _TaskFunction).__call__))
    assert inspect.getsource(_runner).count("scratchpad.call_counter()") == 2


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


def test_tool_nodes_find_their_calls_in_one_place() -> None:
    install()
    assert inspect.getsource(ToolNode).count("self._parse_input(input)") == 2
    found = ToolNode([Deeds().tool("send")])._parse_input([calls(("c1", "send", {"path": "a"}))])  # pyright: ignore[reportPrivateUsage]
    assert ([call["id"] for call in found[0]], found[1]) == (["c1"], "list")
    assert [call["id"] for call in sibling_calls()] == ["c1"]


def test_a_tool_call_request_tells_its_call_its_tool_and_the_state() -> None:
    assert {"tool_call", "tool", "state", "runtime"} <= set(ToolCallRequest.__dataclass_fields__)
    assert callable(ToolCallRequest.override)


def test_every_run_of_a_graph_takes_its_saver_and_its_durability_from_one_place() -> None:
    install()
    install()
    assert cast("Any", Pregel)._defaults.__qualname__.startswith("mark_graphs.")
    source = inspect.getsource(Pregel)
    assert source.count("= self._defaults(") == 2
    returned = source.split("    def _defaults(")[1].split("return (")[1].split(")")[0]
    assert tuple(returned.replace(",", " ").split())[-4:] == ("checkpointer", "store", "cache", "durability")


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
async def test_positions_tell_which_answers_of_the_task_were_taken(host: Host) -> None:
    seen: list[tuple[bool, int, int]] = []

    def node(state: Heard) -> Heard:
        positions = Positions()
        before = positions.used_count
        first: Any = interrupt("first?")
        seen.append((positions.has_answers, before, positions.used_count))
        positions = Positions()
        second: Any = interrupt("second?")
        return {"heard": [first, second, positions.used_count]}

    stage = await host(line(Heard, node))
    turn = await stage.say()
    turn = await stage.tell(turn.request, "1")
    turn = await stage.tell(turn.request, "2")
    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"] == ["1", "2", 2]
    assert seen == [(True, 0, 1), (True, 0, 1)]


@on_sqlite
async def test_an_answer_that_was_used_up_is_not_taken_again(host: Host) -> None:
    skip: list[int] = []

    def node(state: Heard) -> Heard:
        Positions().use(skip)
        skip.append(0)
        return {"heard": interrupt("the same?")}

    stage = await host(line(Heard, node))
    turn = await stage.say()
    turn = await stage.tell(turn.request, "1")
    assert turn.status == "paused", turn.error
    skip[:] = [0]
    turn = await stage.tell(turn.request, "2")
    assert (await stage.values())["heard"] == "2"


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
    assert "interrupt_with_guard" in interrupt.__code__.co_names
    parameters = inspect.signature(interrupt).parameters
    assert list(parameters) == ["value", "response_schema"]
    assert parameters["response_schema"].kind is inspect.Parameter.KEYWORD_ONLY
    original: Any = _langgraph_asks._original_interrupt  # pyright: ignore[reportPrivateUsage]
    assert list(inspect.signature(original).parameters) == list(parameters)
    assert original.__kwdefaults__ == {"response_schema": None}


def test_an_interrupts_id_is_made_of_its_place_and_position() -> None:
    ids = {langgraph.types._interrupt_id("node:task", position) for position in range(3)}  # pyright: ignore[reportPrivateUsage]
    assert len(ids) == 3
    assert all(len(one) == 32 for one in ids)


def test_nodes_and_tools_are_run_in_one_place_each() -> None:
    install()
    for runner, methods in ((RunnableCallable, ("invoke", "ainvoke")), (BaseTool, ("run", "arun"))):
        for method in methods:
            assert getattr(runner, method).interlock

    def node(state: Heard) -> Heard:
        return {}

    assert isinstance(line(Heard, node).compile().nodes["node"].bound, RunnableCallable)
