"""Where Interlock reaches into LangGraph beyond its public interface: all of it, and nothing else, is in this file.

`tests/runners/test_langgraph_internals.py` fails when a release moves any of it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from langgraph._internal._constants import (
    CONFIG_KEY_CHECKPOINTER,
    CONFIG_KEY_SCRATCHPAD,
    CONFIG_KEY_STRICT_RESUME,
    CONFIG_KEY_TASK_ID,
)
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.config import get_config
from langgraph.prebuilt.tool_node import ToolCallRequest, ToolNode

CHECKPOINTER = CONFIG_KEY_CHECKPOINTER
"""Configurable key by which a run is given its own saver, in place of the graph's."""
STRICT_RESUME = CONFIG_KEY_STRICT_RESUME
"""Configurable key that makes a resume naming an interrupt that is not pending raise instead of being ignored."""

Execute = Callable[[ToolCallRequest], Awaitable[Any]]
ExecuteSync = Callable[[ToolCallRequest], Any]
Around = Callable[[ToolCallRequest, Execute], Awaitable[Any]]
AroundSync = Callable[[ToolCallRequest, ExecuteSync], Any]


def task_id() -> str:
    """The id of the graph's task that runs now; it is the same when the task is run again."""
    return cast("str", get_config().get("configurable", {})[CONFIG_KEY_TASK_ID])


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
        self._scratchpad: Any = get_config().get("configurable", {})[CONFIG_KEY_SCRATCHPAD]
        counter = self._scratchpad.interrupt_counter
        if not isinstance(counter._counter, _Counted):
            counter._counter = _Counted(0 if counter._counter is None else counter._counter())
        self._counter: _Counted = counter._counter

    @property
    def used(self) -> int:
        return self._counter.value

    def use(self, count: int) -> None:
        self._counter.value += count

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
