"""Where Interlock reaches into LangGraph's numbers for the graphs and tasks that one task calls.

LangGraph finds the state of a graph that a node or tool calls, and the result of a `@task`, by a number: whoever comes
first in the task has 0. Tool calls and effects that share a task come in any order, and those whose result is on record
are left out; the next one would go on with the state of another, and what it should have done would be dropped. So each
has numbers of its own.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import count
from threading import Lock
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph._internal._constants import CONFIG_KEY_CHECKPOINT_NS, CONFIG_KEY_CHECKPOINTER, CONFIG_KEY_SCRATCHPAD
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.config import get_config

from interlock.agents._langgraph import node_attempt
from interlock.agents.call_sequence import CallSequence

NUMBERED = "interlock_numbered"
"""The key under which a checkpoint says that its graph was called where effects have numbers of their own."""
_BYTES = 7
"""Of a digest: far more than a task calls graphs, so that no two series meet."""


Used = dict[object, set[int]]
"""By counter, and by what is called where that counts, the numbers of a series that are in use."""


@dataclass(slots=True)
class Graphs:
    """The graphs that a task, or one effect of it, calls in one try."""

    start: int
    """The number of the first one that is called in line."""
    used: Used = field(default_factory=dict[object, set[int]])
    line: CallSequence | None = None
    """Those that are called one after the other; None as long as nobody has looked for what is saved of them."""

    def number(self, place: int) -> int:
        return self.start + place

    def place(self, number: int) -> int | None:
        """None for a graph that was numbered by what it is."""
        return number - self.start if 0 <= number - self.start < MOST_PLACES else None


MOST_PLACES = 1 << 32


@dataclass(frozen=True, slots=True)
class _Series:
    space: str
    """The namespace of the task: what runs inside has tasks of its own, with numbers of their own."""
    start: int
    used: Used
    """Of the numbers for tasks: one that is tried again is another."""
    graphs: Graphs


@dataclass(slots=True)
class Call:
    """A graph or `@task` that is called beside others."""

    name: str
    """A digest of what it is and what it is given."""
    release: Callable[[], None] = lambda: None
    """Give its number back: who calls it again, since it failed, goes on with it."""


_series: ContextVar[_Series | None] = ContextVar("interlock_numbers", default=None)
_called: ContextVar[Call | None] = ContextVar("interlock_called", default=None)
"""What is called by the code that asks for a number, where it is called beside others."""


class _Counter:
    """Stands in for a counter of a task; sync tools use it from several threads."""

    def __init__(self, space: str, shared: Callable[[], int]) -> None:
        self._space, self._shared, self._lock = space, shared, Lock()
        self._used: Used = {}

    @property
    def _own(self) -> _Series | None:
        series = _series.get()
        return series if series is not None and series.space == self._space else None

    def __call__(self) -> int:
        own, call = self._own, _called.get()
        if call is None and own is None:
            return self._shared()
        start = own.start if own else 0
        if call is not None:
            start = _start(f"{start} {call.name}")
        used = self._names_used(own).setdefault((self, call and call.name), set())
        with self._lock:
            # By what is called, where that counts: graphs that are called alike take each other's place.
            number = next(number for number in count(1) if number not in used)
            used.add(number)
        if call is not None:
            call.release = partial(used.discard, number)
        return start + number

    def _names_used(self, own: _Series | None) -> Used:
        return own.used if own else self._used


class _GraphCounter(_Counter):
    def __init__(self, space: str, shared: Callable[[], int]) -> None:
        super().__init__(space, shared)
        self._tries: dict[int, Graphs] = {}

    @property
    def graphs(self) -> Graphs:
        """A node that is tried again begins anew with its calls, and the graphs that it calls go on."""
        own = self._own
        return own.graphs if own else self._tries.setdefault(node_attempt(), Graphs(0))

    def _names_used(self, own: _Series | None) -> Used:
        return self.graphs.used


_making = Lock()


@contextmanager
def own_numbers(name: str, used: Used) -> Generator[None]:
    """Have the graphs and tasks that the block calls numbered for themselves, by a name that is unique in the task."""
    given: dict[str, Any] = get_config().get("configurable", {})
    space: str = given[CONFIG_KEY_CHECKPOINT_NS]
    install_counters(given[CONFIG_KEY_SCRATCHPAD], space)
    start = _start(name)
    token = _series.set(_Series(space, start, used, Graphs(start + 1)))
    try:
        yield
    finally:
        _series.reset(token)


@contextmanager
def number_by(call: Call) -> Generator[None]:
    """Have the number that is asked for in the block made from what is called."""
    token = _called.set(call)
    try:
        yield
    finally:
        _called.reset(token)


def install_counters(scratchpad: Any, space: str) -> Graphs:
    """Have the counters of a task look up whose code asks, and what is called. The graphs that this code calls."""
    for counter, kind in ((scratchpad.subgraph_counter, _GraphCounter), (scratchpad.call_counter, _Counter)):
        with _making:
            if not isinstance(counter._counter, kind):
                counter._counter = kind(space, counter._counter or count().__next__)
    return cast("_GraphCounter", scratchpad.subgraph_counter._counter).graphs


def _start(name: str) -> int:
    return int.from_bytes(sha256(name.encode(errors="surrogatepass")).digest()[:_BYTES])


async def are_in_line() -> bool:
    """Whether the task has called a graph where an earlier version ran it: that one goes on with the number it has."""
    given: dict[str, Any] = get_config().get("configurable", {})
    saver = given.get(CONFIG_KEY_CHECKPOINTER)
    if not isinstance(saver, BaseCheckpointSaver):
        return False
    config = first_in(given, given[CONFIG_KEY_CHECKPOINT_NS])
    return is_earlier([one async for one in cast("BaseCheckpointSaver[Any]", saver).alist(config)])


def first_in(given: Mapping[str, Any], space: str) -> RunnableConfig:
    """Where the steps of the first graph are kept that a task called, by LangGraph's numbers."""
    return {"configurable": {"thread_id": given["thread_id"], "checkpoint_ns": space}}


def is_earlier(saved: Sequence[CheckpointTuple]) -> bool:
    return bool(saved) and NUMBERED not in saved[-1].metadata
