"""Where Interlock reaches into LangGraph beyond its public interface: all of it, and nothing else, is in this file.

`tests/runners/test_langgraph_internals.py` fails when a release moves any of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from types import FunctionType, MethodType
from typing import Any, Protocol, TypeVar, cast

from langchain.agents.middleware import AgentMiddleware
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.tools import BaseTool
from langgraph._internal._constants import (
    CONFIG_KEY_CHECKPOINT_NS,
    CONFIG_KEY_CHECKPOINTER,
    CONFIG_KEY_RUNTIME,
    CONFIG_KEY_SCRATCHPAD,
    CONFIG_KEY_SEND,
    CONFIG_KEY_STRICT_RESUME,
    CONFIG_KEY_TASK_ID,
    INTERRUPT,
    NS_END,
    NS_SEP,
    RESUME,
)
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest, ToolNode
from langgraph.pregel import Pregel
from langgraph.types import Interrupt, interrupt
from langgraph.types import _interrupt_id as _id_at  # pyright: ignore[reportPrivateUsage]

T = TypeVar("T")
Graph = Pregel[Any, Any, Any, Any]

CHECKPOINTER = CONFIG_KEY_CHECKPOINTER
"""Configurable key by which a run is given its own saver, in place of the graph's."""
STRICT_RESUME = CONFIG_KEY_STRICT_RESUME
"""Configurable key that makes a resume naming an interrupt that is not pending raise instead of being ignored."""

Execute = Callable[[ToolCallRequest], Awaitable[Any]]
ExecuteSync = Callable[[ToolCallRequest], Any]
Around = Callable[[ToolCallRequest, Execute], Awaitable[Any]]
AroundSync = Callable[[ToolCallRequest, ExecuteSync], Any]


__all__ = ["INTERRUPT", "NS_END", "NS_SEP"]
MOST_ASKS = 1_000
"""How many asks of one task are told from those of a graph inside it."""


def is_asked_by(space: str, interrupt_id: str) -> bool:
    """Whether the task with this namespace raised the interrupt itself, and no graph inside of it."""
    return any(_id_at(space, position) == interrupt_id for position in range(MOST_ASKS))


def task_id() -> str:
    """The id of the graph's task that runs now; it is the same when the task is run again."""
    return cast("str", get_config().get("configurable", {})[CONFIG_KEY_TASK_ID])


def node_attempt() -> int:
    """How often the task has been tried in this run: a retry policy runs a node again from its first line."""
    runtime: Any = get_config().get("configurable", {}).get(CONFIG_KEY_RUNTIME)
    return getattr(getattr(runtime, "execution_info", None), "node_attempt", 1)


class TaskSerializer:
    """Reads and writes as the saver of the task's own graph does: only that one knows the types of its state."""

    def __init__(self, otherwise: SerializerProtocol) -> None:
        self._otherwise = otherwise

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return self._serde.dumps_typed(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return self._serde.loads_typed(data)

    @property
    def _serde(self) -> SerializerProtocol:
        saver = get_config().get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER)
        return saver.serde if isinstance(saver, BaseCheckpointSaver) else self._otherwise


class _Counted:
    """Stands in for the counter that gives a task's interrupts their positions, and can be read."""

    def __init__(self, start: int) -> None:
        self.value = start

    def __call__(self) -> int:
        value, self.value = self.value, self.value + 1
        return value


class Positions:
    """The positions of a task's interrupts: LangGraph hands answers out by them.

    A tool call whose result is on record does not ask again, so the positions that its asks used up must be used up
    for it: else the next call of the task would be given its answers.
    """

    def __init__(self) -> None:
        self._configurable = get_config().get("configurable", {})
        self._scratchpad: Any = self._configurable[CONFIG_KEY_SCRATCHPAD]
        counter = self._scratchpad.interrupt_counter
        if not isinstance(counter._counter, _Counted):
            counter._counter = _Counted(0 if counter._counter is None else counter._counter())
        self._counter: _Counted = counter._counter

    @property
    def used(self) -> int:
        return self._counter.value

    @property
    def unused(self) -> int:
        """How many of the task's answers nobody has taken yet."""
        return max(0, len(self._scratchpad.resume) - self._counter.value)

    def use(self, count: int) -> None:
        """Use up so many answers; there are no positions to use up beyond them."""
        self._counter.value += min(count, self.unused)
        if count:
            self._keep()

    def drop(self) -> None:
        """Forget the answers that nobody has taken yet."""
        del self._scratchpad.resume[self._counter.value :]
        self._keep()

    @property
    def ids(self) -> list[str]:
        """The interrupts whose answers the task was given, by position."""
        space = self._configurable[CONFIG_KEY_CHECKPOINT_NS]
        return [_id_at(space, position) for position in range(len(self._scratchpad.resume))]

    def _keep(self) -> None:
        """Save the answers up to here with the task, as an `interrupt()` that takes one does."""
        self._configurable[CONFIG_KEY_SEND]([(RESUME, self._scratchpad.resume[: self._counter.value])])

    @property
    def has_answers(self) -> bool:
        """Whether the task has been given answers, and so is not run for the first time."""
        return bool(self._scratchpad.resume)


def wrap_tool_nodes(around: Around, around_sync: AroundSync, is_hosted: Callable[[], bool]) -> None:
    """Put `around` directly around the execution of every tool call of every ToolNode, inside of all middleware.

    It stands on the class, so it reaches graphs that are hidden in a tool's closure too, such as deepagents' subagents.
    Where no hosted run is under way, `around` must call straight through.
    """
    node = cast("Any", ToolNode)
    execute, execute_sync, run_one = node._execute_tool_async, node._execute_tool_sync, node._arun_one
    if getattr(execute, "interlock", False):
        return

    async def wrapped(self: ToolNode, request: ToolCallRequest, input_type: Any, config: Any) -> Any:
        return await around(request, lambda changed: execute(self, changed, input_type, config))

    def wrapped_sync(self: ToolNode, request: ToolCallRequest, input_type: Any, config: Any) -> Any:
        return around_sync(request, lambda changed: execute_sync(self, changed, input_type, config))

    async def run_apart(self: Any, call: Any, input_type: Any, runtime: Any) -> Any:
        if is_hosted() and self._awrap_tool_call is None and self._wrap_tool_call is not None:
            # LangGraph calls a wrapper that is only sync on the event loop, where it could not wait for the record.
            return await asyncio.to_thread(self._run_one, call, input_type, runtime)
        return await run_one(self, call, input_type, runtime)

    cast("Any", wrapped).interlock = True
    node._execute_tool_async, node._execute_tool_sync, node._arun_one = wrapped, wrapped_sync, run_apart


class Guard(Protocol):
    """Knows to which ask each answer of a run belongs."""

    def owns(self, interrupt_id: str, value: Any, others: Sequence[str]) -> bool:
        """Whether the answer to this interrupt is the answer to what is asked now; `others` are the task's answers."""
        ...

    def drop(self, interrupt_id: str) -> None:
        """The answer belongs to another ask: what stands at its position now is asked anew, under the same id."""
        ...

    def raised(self, interrupt: Interrupt[Any]) -> None: ...


_find_guard: Callable[[], Guard | None] = lambda: None  # noqa: E731
_original_interrupt: Any = None


def guard_interrupts(find: Callable[[], Guard | None]) -> None:
    """Have every `interrupt()` of a hosted run checked before it takes an answer by its position alone.

    Graphs and libraries import the function by name, so its code is replaced and not the name.
    """
    global _find_guard, _original_interrupt
    _find_guard = find
    if _original_interrupt is None:
        function = cast("FunctionType", interrupt)
        _original_interrupt = FunctionType(function.__code__, function.__globals__, function.__name__)
        _original_interrupt.__kwdefaults__ = function.__kwdefaults__
        function.__code__ = _guarded_entry.__code__


def _guarded_entry(value: Any, *, response_schema: Any = None) -> Any:
    from interlock.agents._langgraph import guarded_interrupt

    return guarded_interrupt(value, response_schema)


def guarded_interrupt(value: Any, response_schema: Any) -> Any:
    guard = _find_guard()
    if guard is not None:
        _drop_answers_of_others(guard, value)
    try:
        return _original_interrupt(value, response_schema=response_schema)
    except GraphInterrupt as error:
        if guard is not None:
            for one in error.args[0]:
                guard.raised(one)
        raise


def _drop_answers_of_others(guard: Guard, value: Any) -> None:
    positions = Positions()
    index, ids = positions.used, positions.ids
    if positions.unused and not guard.owns(ids[index], value, ids[:index] + ids[index + 1 :]):
        positions.drop()
        guard.drop(ids[index])


def middleware_around(node: ToolNode) -> Iterator[AgentMiddleware[Any, Any, Any]]:
    """What stands around the calls of a ToolNode that `create_agent` made: it keeps them in closures only."""
    wrappers = cast("Any", node)._awrap_tool_call, cast("Any", node)._wrap_tool_call
    return _within(wrappers, cast("type[AgentMiddleware[Any, Any, Any]]", AgentMiddleware))


def all_graphs(graph: Graph) -> list[Graph]:
    """The graph, its subgraphs, and those that its tools call (deepagents' subagents), as far as they are found."""
    found: dict[int, Graph] = {}
    ahead = [graph]
    while ahead:
        one = ahead.pop()
        if id(one) in found or not isinstance(cast("Any", one), Pregel):
            continue
        found[id(one)] = one
        ahead.extend(inner for _, inner in cast("Any", one).get_subgraphs(recurse=True))
        for node in tool_nodes(one):
            ahead.extend(_within(node.tools_by_name.values(), cast("type[Graph]", Pregel)))
    return list(found.values())


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
            ahead.extend(_held(one))


def _held(one: Any) -> Iterable[Any]:
    held: Iterable[Any] = ()
    match one:
        case MethodType():
            held = (one.__self__, one.__func__)
        case FunctionType():
            held = _used(one)
        case partial():
            known = cast("partial[Any]", one)
            held = (known.func, *known.args, *known.keywords.values())
        case RunnableBindingBase():
            held = (cast("Any", one).bound,)
        case BaseTool():
            held = _of_tool(one)
        case dict():
            held = cast("dict[Any, Any]", one).values()
        case list() | tuple():
            held = cast("list[Any]", one)
        case _:
            pass
    return held


def _of_tool(tool: BaseTool) -> Iterator[Any]:
    for value in vars(tool).values():
        yield value
        if isinstance(value, MethodType):
            yield from getattr(value.__self__, "__dict__", {}).values()


def _used(function: FunctionType) -> Iterator[Any]:
    yield getattr(function, "__wrapped__", None)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # it is empty: its name is not bound yet
            continue
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        # A library's functions use thousands of others: only those of the same module are followed.
        if not isinstance(value, FunctionType) or value.__module__ == function.__module__:
            yield value
