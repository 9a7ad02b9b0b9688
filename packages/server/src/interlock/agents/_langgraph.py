"""Where Interlock reaches into LangGraph beyond its public interface: all of it is in the `_langgraph*` modules.

`tests/runners/test_langgraph_internals.py` fails when a release moves any of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from functools import partial
from types import FunctionType, MethodType
from typing import Any, TypeVar, cast

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolCall
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.tools import BaseTool
from langgraph._internal._constants import (
    CONFIG_KEY_CHECKPOINT_NS,
    CONFIG_KEY_CHECKPOINTER,
    CONFIG_KEY_RUNTIME,
    CONFIG_KEY_STRICT_RESUME,
    CONFIG_KEY_TASK_ID,
    INTERRUPT,
    NS_END,
    NS_SEP,
)
from langgraph._internal._runnable import RunnableCallable
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.config import get_config
from langgraph.prebuilt.tool_node import ToolCallRequest, ToolNode
from langgraph.pregel import Pregel

from interlock.domain.unkept import refusal

T = TypeVar("T")
Graph = Pregel[Any, Any, Any, Any]

CHECKPOINTER = CONFIG_KEY_CHECKPOINTER
"""Configurable key by which a run is given its own saver, in place of the graph's."""
STRICT_RESUME = CONFIG_KEY_STRICT_RESUME
"""Configurable key that makes a resume naming an interrupt that is not pending raise instead of being ignored."""
KEEPING = "__interlock_keeping"
"""Configurable key that says of every graph of a hosted run how its steps are kept."""


class Persistence(StrEnum):
    KEPT = "kept"
    """By the run's saver, before the next step begins: after a crash its tasks are found again, by the same ids."""
    LATE = "late"
    """By the run's saver, but only when it ends or asks."""
    UNSAVED = "unsaved"
    APART = "apart"
    """It has a thread of its own: neither its steps nor its asks reach the run."""


Execute = Callable[[ToolCallRequest], Awaitable[Any]]
ExecuteSync = Callable[[ToolCallRequest], Any]
Around = Callable[[ToolCallRequest, Execute], Awaitable[Any]]
AroundSync = Callable[[ToolCallRequest, ExecuteSync], Any]


__all__ = ["INTERRUPT", "NS_END", "NS_SEP"]


def task_id() -> str:
    """The id of the graph's task that runs now; it is the same when the task is run again, if its graph is kept."""
    return cast("str", get_config().get("configurable", {})[CONFIG_KEY_TASK_ID])


def graph_space() -> str:
    """The namespace of the graph whose task runs now: graphs beside it, or in its tools, have others."""
    space: str = get_config().get("configurable", {}).get(CONFIG_KEY_CHECKPOINT_NS, "")
    return space.rpartition(NS_SEP)[0]


def persistence_now() -> Persistence:
    """How the steps of the graph are kept whose task runs now."""
    return get_config().get("configurable", {}).get(KEEPING, Persistence.APART)


def mark_graphs(is_hosted: Callable[[], bool]) -> None:
    """Have every graph that a hosted run enters marked with how it is kept, whoever calls it, and from wherever."""
    pregel = cast("Any", Pregel)
    defaults = pregel._defaults
    if getattr(defaults, "interlock", False):
        return

    def mark_defaults(self: Any, config: Any, **given: Any) -> Any:
        *others, saver, store, cache, durability = defaults(self, config, **given)
        if is_hosted():
            known = config["configurable"]
            known[KEEPING] = _persistence_inside(known.get(KEEPING, Persistence.APART), saver, durability)
            if saver is None and durability == "sync":
                # It is inherited from the run's graph; LangGraph would wait for a checkpoint that nobody writes.
                durability = "async"
        return (*others, saver, store, cache, durability)

    cast("Any", mark_defaults).interlock = True
    pregel._defaults = mark_defaults


def _persistence_inside(outer: Persistence, saver: Any, durability: str) -> Persistence:
    """A graph is kept no better than the one around it, of whose task its checkpoints have the name."""
    if outer in (Persistence.APART, Persistence.UNSAVED):
        return outer
    if saver is None:
        return Persistence.UNSAVED
    return outer if durability == "sync" else Persistence.LATE


def node_attempt() -> int:
    """How often the task has been tried in this run: a retry policy runs a node again from its first line."""
    runtime: Any = get_config().get("configurable", {}).get(CONFIG_KEY_RUNTIME)
    return getattr(getattr(runtime, "execution_info", None), "node_attempt", 1)


class TaskSerializer:
    """Reads and writes as the saver of the task's own graph does: only that one knows the types of its state."""

    def __init__(self, otherwise: SerializerProtocol) -> None:
        self._otherwise = otherwise

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        try:
            return self._serde.dumps_typed(obj)
        except TypeError as error:
            raise refusal("the result", obj, error) from error

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return self._serde.loads_typed(data)

    @property
    def _serde(self) -> SerializerProtocol:
        saver = get_config().get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER)
        return saver.serde if isinstance(saver, BaseCheckpointSaver) else self._otherwise


_calls: ContextVar[Sequence[ToolCall]] = ContextVar("interlock_calls", default=())


def sibling_calls() -> Sequence[ToolCall]:
    """All calls that the ToolNode around runs in this task, in their order, wherever it took them from."""
    return _calls.get()


_tool: ContextVar[BaseTool | None] = ContextVar("interlock_tool", default=None)


def running_tool() -> BaseTool | None:
    """The tool of the call inside of which the code runs."""
    return _tool.get()


@contextmanager
def _set_tool(request: ToolCallRequest) -> Generator[None]:
    token = _tool.set(request.tool)
    try:
        yield
    finally:
        _tool.reset(token)


def wrap_tool_nodes(around: Around, around_sync: AroundSync, is_hosted: Callable[[], bool]) -> None:
    """Put `around` directly around the execution of every tool call of every ToolNode, inside of all middleware.

    It stands on the class, so it reaches graphs that are hidden in a tool's closure too, such as deepagents' subagents.
    Where no hosted run is under way, `around` must call straight through.
    """
    node = cast("Any", ToolNode)
    execute, execute_sync, run_one = node._execute_tool_async, node._execute_tool_sync, node._arun_one
    parse = node._parse_input
    if getattr(execute, "interlock", False):
        return

    async def run_around(self: ToolNode, request: ToolCallRequest, input_type: Any, config: Any) -> Any:
        with _set_tool(request):
            return await around(request, lambda changed: execute(self, changed, input_type, config))

    def run_around_sync(self: ToolNode, request: ToolCallRequest, input_type: Any, config: Any) -> Any:
        with _set_tool(request):
            return around_sync(request, lambda changed: execute_sync(self, changed, input_type, config))

    async def run_apart(self: Any, call: Any, input_type: Any, runtime: Any) -> Any:
        if is_hosted() and self._awrap_tool_call is None and self._wrap_tool_call is not None:
            # LangGraph calls a wrapper that is only sync on the event loop, where it could not wait for the record.
            return await asyncio.to_thread(self._run_one, call, input_type, runtime)
        return await run_one(self, call, input_type, runtime)

    def parse_and_tell(self: Any, given: Any) -> Any:
        calls, input_type = parse(self, given)
        _calls.set(calls)
        return calls, input_type

    cast("Any", run_around).interlock = True
    node._execute_tool_async, node._execute_tool_sync, node._arun_one = run_around, run_around_sync, run_apart
    node._parse_input = parse_and_tell


def middleware_around(node: ToolNode) -> Iterator[AgentMiddleware[Any, Any, Any]]:
    """What stands around the calls of a ToolNode that `create_agent` made: it keeps them in closures only."""
    wrappers = cast("Any", node)._awrap_tool_call, cast("Any", node)._wrap_tool_call
    return _within(wrappers, cast("type[AgentMiddleware[Any, Any, Any]]", AgentMiddleware))


def all_graphs(graph: Graph) -> list[Graph]:
    """The graph, its subgraphs, and those that its nodes and tools call, as far as they are found in these."""
    found: dict[int, Graph] = {}
    ahead = [graph]
    while ahead:
        one = ahead.pop()
        if id(one) in found or not isinstance(cast("Any", one), Pregel):
            continue
        found[id(one)] = one
        ahead.extend(inner for _, inner in cast("Any", one).get_subgraphs(recurse=True))
        ahead.extend(_within((node.bound for node in one.nodes.values()), cast("type[Graph]", Pregel)))
    return list(found.values())


def find_in_tool(tool: BaseTool, kind: type[T]) -> Iterator[T]:
    """The objects of a kind that a tool's functions hold: a tool that middleware made knows it by its closure only."""
    return _within([tool], kind)


def tool_nodes(graph: Graph) -> Iterator[ToolNode]:
    return (node.bound for node in graph.nodes.values() if isinstance(node.bound, ToolNode))


def _within(start: Iterable[Any], kind: type[T]) -> Iterator[T]:
    """The objects of a kind that functions hold, wherever in their closures, bindings and collections."""
    seen: dict[int, Any] = {}
    ahead = list(start)
    while ahead:
        one = ahead.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        if isinstance(one, kind):
            yield one
        else:
            ahead.extend(_parts_of(one))


def _parts_of(one: Any) -> Iterable[Any]:
    parts: Iterable[Any] = ()
    match one:
        case ToolNode():
            parts = one.tools_by_name.values()
        case RunnableCallable():
            known = cast("Any", one)
            parts = (known.func, known.afunc)
        case MethodType():
            parts = (one.__self__, one.__func__, *getattr(one.__self__, "__dict__", {}).values())
        case FunctionType():
            parts = _references(one)
        case partial():
            bound = cast("partial[Any]", one)
            parts = (bound.func, *bound.args, *bound.keywords.values())
        case RunnableBindingBase():
            parts = (cast("Any", one).bound,)
        case BaseTool():
            parts = vars(one).values()
        case dict():
            parts = cast("dict[Any, Any]", one).values()
        case list() | tuple():
            parts = cast("list[Any]", one)
        case _:
            pass
    return parts


def _references(function: FunctionType) -> Iterator[Any]:
    yield getattr(function, "__wrapped__", None)
    for value in _outside(function):
        yield value
        # `workers.writer.invoke(...)`: of what it names, only what it takes from it.
        attributes = getattr(value, "__dict__", {})
        yield from (attributes[name] for name in function.__code__.co_names if _is_ours(attributes.get(name), function))


def _outside(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # it is empty: its name is not bound yet
            continue
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if _is_ours(value, function):
            yield value


def _is_ours(value: Any, function: FunctionType) -> bool:
    """A library's functions use thousands of others: only those of the same module are followed."""
    return value is not None and (not isinstance(value, FunctionType) or value.__module__ == function.__module__)
