"""Where Interlock reaches into how LangGraph numbers graphs that are called side by side in one task.

Code that calls graphs in `asyncio.gather`, in tasks of its own or in threads may come to the calls in another order
each time its node is run. By order, one graph would then go on with the state, and the answers, of another. So such a
graph has a number that is made from what is called: the graph and its input.
"""

import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from types import FunctionType, MethodType
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langgraph._internal._constants import CONF, CONFIG_KEY_CHECKPOINT_NS, CONFIG_KEY_SCRATCHPAD, CONFIG_KEY_TASK_ID
from langgraph._internal._runnable import RunnableCallable, RunnableSeq
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.config import get_config
from langgraph.func import _TaskFunction  # pyright: ignore[reportPrivateUsage]
from langgraph.prebuilt.tool_node import ToolNode
from langgraph.pregel import Pregel, _runner
from langgraph.pregel._loop import AsyncPregelLoop, PregelLoop, SyncPregelLoop
from langgraph.types import Command

from interlock.agents._langgraph import KEEPING, Persistence, running_tool
from interlock.agents._langgraph_in_line import ConcurrentCall, SequentialCall, find_places
from interlock.agents._langgraph_numbers import Call, first_in, install_counters, is_earlier, number_by
from interlock.domain.canonical import digest, plain
from interlock.domain.errors import InterlockError

_ARE_GRAPHS = ("langgraph.pregel.main", "langgraph.pregel._loop", __name__)
_RUNS_CODE = ("interlock.agents.", "langgraph.")
_RUNS_IN_THREAD = "run_in_executor"
_own_nodes: ContextVar[Any] = ContextVar("interlock_nodes", default=None)
"""The nodes of the graph that is itself the node of the task that runs: it is run beside nothing."""


class GraphsSideBySide(InterlockError):
    """Graphs that were called side by side under an earlier version, which told them apart by who came first."""

    code = "graphs_side_by_side"

    def __init__(self) -> None:
        super().__init__(
            "graphs are called side by side here that an earlier version began and told apart by who came first: which "
            "of them a saved state belongs to is not known. Stop this conversation and begin it again; in code, "
            "interlock.effect(...) around each graph keeps them apart"
        )


def bind_graphs(is_hosted: Callable[[], bool]) -> None:
    """Have every graph that code of a hosted run calls beside others numbered by what it is and what it is given."""
    loop = cast("Any", PregelLoop)
    begin = loop.__init__
    if getattr(begin, "interlock", False):
        return

    @wraps(begin)
    def begin_graph(self: Any, input: Any, **given: Any) -> None:
        self.interlock_space = self.interlock_call = None
        known = given["config"].get(CONF, {})
        is_code = is_hosted() and _is_called_by_code(known) and given["nodes"] is not _own_nodes.get()
        if not is_code or input is None or isinstance(input, Command):
            return begin(self, input, **given)
        space: str = known[CONFIG_KEY_CHECKPOINT_NS]
        graphs = install_counters(known[CONFIG_KEY_SCRATCHPAD], space)
        if not _is_beside():
            begin(self, input, **given)
            if known.get(KEEPING) in (Persistence.KEPT, Persistence.LATE):
                self.interlock_call = SequentialCall(graphs, space, name_in_line(given["nodes"], input))
            return None
        self.interlock_space = space
        call = Call(name_of(given["nodes"], input))
        self.interlock_call = ConcurrentCall(call)
        with number_by(call):
            return begin(self, input, **given)

    cast("Any", begin_graph).interlock = True
    loop.__init__ = begin_graph
    _check_entries()
    find_places()
    _mark_nodes()
    _bind_tasks(is_hosted)


def _is_called_by_code(known: Mapping[str, Any]) -> bool:
    """A graph that keeps its state from one message to the next (`checkpointer=True`) has no task in its namespace."""
    task: str | None = known.get(CONFIG_KEY_TASK_ID)
    return CONFIG_KEY_SCRATCHPAD in known and task is not None and known[CONFIG_KEY_CHECKPOINT_NS].endswith(task)


def _bind_tasks(is_hosted: Callable[[], bool]) -> None:
    """Have every `@task` that is started beside others numbered so too: its result is found by its number."""
    function = cast("Any", _TaskFunction)
    begin = function.__call__

    @wraps(begin)
    def begin_task(self: Any, *args: Any, **given: Any) -> Any:
        if not is_hosted() or not _is_beside():
            return begin(self, *args, **given)
        known: Any = get_config().get("configurable", {})
        install_counters(known[CONFIG_KEY_SCRATCHPAD], known[CONFIG_KEY_CHECKPOINT_NS])
        what = [sorted(set(_texts(self.func))), plain([args, given], default=_words)]
        with number_by(Call(digest(what))):
            return begin(self, *args, **given)

    function.__call__ = begin_task


def _mark_nodes() -> None:
    """Have it known of every task whether its node is itself a graph."""
    runner = cast("Any", _runner)
    run, arun = runner.run_with_retry, runner.arun_with_retry

    @wraps(run)
    def run_marked(task: Any, *given: Any, **more: Any) -> Any:
        with _node(task):
            return run(task, *given, **more)

    @wraps(arun)
    async def arun_marked(task: Any, *given: Any, **more: Any) -> Any:
        with _node(task):
            return await arun(task, *given, **more)

    runner.run_with_retry, runner.arun_with_retry = run_marked, arun_marked


@contextmanager
def _node(task: Any) -> Generator[None]:
    proc: Any = task.proc
    first: Any = cast("Any", proc).steps[0] if isinstance(proc, RunnableSeq) else proc
    token = _own_nodes.set(first.nodes if isinstance(first, Pregel) else None)
    try:
        yield
    finally:
        _own_nodes.reset(token)


def _check_entries() -> None:
    enter, enter_sync = AsyncPregelLoop.__aenter__, SyncPregelLoop.__enter__

    async def check_and_enter(self: Any) -> Any:
        if self.checkpointer and self.interlock_space:
            first = first_in(self.config[CONF], self.interlock_space)
            _check([one async for one in self.checkpointer.alist(first)])
        return await enter(self)

    def check_and_enter_sync(self: Any) -> Any:
        if self.checkpointer and self.interlock_space:
            _check(list(self.checkpointer.list(first_in(self.config[CONF], self.interlock_space))))
        return enter_sync(self)

    cast("Any", AsyncPregelLoop).__aenter__ = check_and_enter
    cast("Any", SyncPregelLoop).__enter__ = check_and_enter_sync


def _check(saved: list[CheckpointTuple]) -> None:
    if is_earlier(saved):
        raise GraphsSideBySide


def _is_beside() -> bool:
    """Whether the call was started beside the code of its node, tool or effect: then what runs that is not below."""
    tool = running_tool()
    above, frame = "", sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        module: str = frame.f_globals.get("__name__") or ""
        if module.startswith("asyncio."):
            return True
        if module.startswith(_RUNS_CODE) and not module.startswith(_ARE_GRAPHS):
            return False
        if module.startswith("langchain_core.tools") and frame.f_locals.get("self") is tool is not None:
            return False  # the tool of the call itself, which LangChain runs as an asyncio task of its own
        if module == "langchain_core.runnables.config" and frame.f_code.co_qualname.startswith(_RUNS_IN_THREAD):
            # Of a node's own function, or of a runnable, which may be one of several.
            return above.startswith("langchain_core.runnables.")
        above, frame = module, frame.f_back
    return True


def _words(value: Any) -> Any:
    if isinstance(value, BaseMessage):
        # Its id is made up when it is added to a state, and may stick to a message that is sent once more.
        return [type(value).__name__, value.model_dump(exclude={"id"}, mode="python")]
    if isinstance(value, set | frozenset):
        return sorted(str(one) for one in cast("set[Any]", value))
    # An address is another one in each process.
    return type(value).__qualname__ if type(value).__repr__ is object.__repr__ else str(value)


def name_of(nodes: Mapping[str, Any], input: Any) -> str:
    return digest([_make(nodes), plain(input, default=_words)])


def name_in_line(nodes: Mapping[str, Any], input: Any) -> str:
    """Without what nodes hold, such as prompts: the order tells graphs apart, and a new release may change a prompt."""
    return digest([sorted(nodes), plain(input, default=_words)])


def _make(nodes: Mapping[str, Any]) -> list[Any]:
    """What tells graphs apart that have no name, in any process: their nodes, and the texts and tools they hold."""
    return [[name, sorted(set(_texts(node.bound)))] for name, node in sorted(nodes.items())]


def _texts(start: Any) -> Iterator[str]:
    seen: set[int] = set()
    ahead = [start]
    while ahead:
        one = ahead.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        match one:
            case str():
                yield one
            case BaseMessage():
                yield str(one.text)
            case ToolNode():
                yield from one.tools_by_name
            case RunnableCallable():
                ahead += [cast("Any", one).func, cast("Any", one).afunc]
            case MethodType():
                ahead.append(one.__func__)
            case partial():
                bound = cast("partial[Any]", one)
                ahead += [bound.func, *bound.args, *bound.keywords.values()]
            case FunctionType():
                yield f"{one.__module__}.{one.__qualname__}"
                ahead += _cells(one)
            case _:
                pass


def _cells(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # it is empty: its name is not bound yet
            continue
