"""Where Interlock reaches into how LangGraph finds the state of a graph that code calls.

The checkpoints of such a graph say what it was called with, so that a call goes on with its own graph and not with
the one that has its number. A graph that failed is gone on with when it is called again.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, cast

from langgraph._internal._config import patch_configurable
from langgraph._internal._constants import CONF, CONFIG_KEY_CHECKPOINT_NS, CONFIG_KEY_RESUMING, INTERRUPT, NS_SEP
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.errors import GraphBubbleUp
from langgraph.pregel._loop import AsyncPregelLoop, PregelLoop, SyncPregelLoop

from interlock.agents._langgraph_numbers import Call, Graphs
from interlock.agents.call_sequence import CallSequence, ask_if_same

CALLED = "interlock_called"
"""The key under which a checkpoint says what its graph was called with."""


class Saver(Protocol):
    """What the run's saver can do beyond LangGraph's."""

    async def aspaces(self, thread_id: str, space: str) -> Mapping[str, Mapping[str, Any]]:
        """By namespace, what the newest checkpoints say of the graphs that a task called."""
        ...

    def spaces(self, thread_id: str, space: str) -> Mapping[str, Mapping[str, Any]]: ...


def find_places() -> None:
    """Have each graph that code calls go on with its own state."""
    _search_on_entry(cast("Any", AsyncPregelLoop), cast("Any", SyncPregelLoop))
    _release_on_failure(cast("Any", AsyncPregelLoop), cast("Any", SyncPregelLoop))
    loop = cast("Any", PregelLoop)
    put_checkpoint = loop._put_checkpoint

    def name_checkpoint(self: Any, metadata: Any) -> None:
        if self.interlock_call is not None:
            metadata[CALLED] = self.interlock_call.name
        put_checkpoint(self, metadata)

    loop._put_checkpoint = name_checkpoint


def _search_on_entry(aloop: Any, loop: Any) -> None:
    aenter, enter = aloop.__aenter__, loop.__enter__

    async def asearch_and_enter(self: Any) -> Any:
        if self.interlock_call is not None and self.checkpointer:
            for search in self.interlock_call.search(self):
                search.found = await search.aread(self.checkpointer)
        return await aenter(self)

    def search_and_enter(self: Any) -> Any:
        if self.interlock_call is not None and self.checkpointer:
            for search in self.interlock_call.search(self):
                search.found = search.read(self.checkpointer)
        return enter(self)

    aloop.__aenter__, loop.__enter__ = asearch_and_enter, search_and_enter


def _release_on_failure(aloop: Any, loop: Any) -> None:
    aleave, leave = aloop.__aexit__, loop.__exit__

    async def arelease_and_leave(self: Any, kind: Any, *more: Any) -> Any:
        _release(self, kind)
        return await aleave(self, kind, *more)

    def release_and_leave(self: Any, kind: Any, *more: Any) -> Any:
        _release(self, kind)
        return leave(self, kind, *more)

    aloop.__aexit__, loop.__exit__ = arelease_and_leave, release_and_leave


def _release(loop: Any, kind: type[BaseException] | None) -> None:
    if loop.interlock_call is not None and kind is not None and not issubclass(kind, GraphBubbleUp | GeneratorExit):
        loop.interlock_call.release()


class _GraphState:
    """The state of one graph."""

    found: CheckpointTuple | None = None

    def __init__(self, config: Any) -> None:
        self._config = config

    async def aread(self, saver: Any) -> CheckpointTuple | None:
        return await saver.aget_tuple(self._config)

    def read(self, saver: Any) -> CheckpointTuple | None:
        return saver.get_tuple(self._config)


class _Spaces:
    """The graphs of a task."""

    found: Mapping[str, Mapping[str, Any]] = {}

    def __init__(self, *place: str) -> None:
        self._place = place

    async def aread(self, saver: Saver) -> Mapping[str, Mapping[str, Any]]:
        return await saver.aspaces(*self._place)

    def read(self, saver: Saver) -> Mapping[str, Mapping[str, Any]]:
        return saver.spaces(*self._place)


class ConcurrentCall:
    """One call of a graph that is started beside others, and numbered by what it is."""

    def __init__(self, call: Call) -> None:
        self._call, self.name = call, call.name

    def search(self, loop: Any) -> Iterable[Any]:
        loop.config = patch_configurable(loop.config, {CONFIG_KEY_RESUMING: True})
        return ()

    def release(self) -> None:
        self._call.release()


class SequentialCall:
    """One call of a graph by code that calls one after the other."""

    def __init__(self, graphs: Graphs, space: str, name: str) -> None:
        self._graphs, self._space, self.name = graphs, space, name
        self._place: int | None = None

    def search(self, loop: Any) -> Iterator[Any]:
        """Find the graph, with what is read of what it yields, and have the loop go on with it."""
        thread_id: str = loop.config[CONF]["thread_id"]
        if self._graphs.line is None:
            yield (spaces := _Spaces(thread_id, self._space))
            self._graphs.line = self._graphs.line or self._line(spaces.found)
        line = self._graphs.line
        while (place := line.place_of(self.name)) is None:
            doubtful = cast("int", line.in_doubt())
            yield (saved := _GraphState(patch_configurable(loop.config, self._at(doubtful))))
            line.settle(doubtful, self.name, is_same=_waits(saved.found) or ask_if_same(saved.found, loop.input))
        line.take(place, self.name)
        self._place = place
        address = self._at(place)
        loop.config = patch_configurable(loop.config, {**address, CONFIG_KEY_RESUMING: True})
        loop.checkpoint_config = patch_configurable(loop.checkpoint_config, address)
        loop.checkpoint_ns = tuple(address[CONFIG_KEY_CHECKPOINT_NS].split(NS_SEP))

    def _line(self, spaces: Mapping[str, Mapping[str, Any]]) -> CallSequence:
        numbers = {int(space[len(self._space) + 1 :] or 0): metadata for space, metadata in spaces.items()}
        places = {self._graphs.place(number): metadata.get(CALLED) for number, metadata in numbers.items()}
        return CallSequence({place: name for place, name in places.items() if place is not None})

    def _at(self, place: int) -> dict[str, Any]:
        number = self._graphs.number(place)
        return {CONFIG_KEY_CHECKPOINT_NS: f"{self._space}{NS_SEP}{number}" if number else self._space}

    def release(self) -> None:
        if self._place is not None and self._graphs.line is not None:
            self._graphs.line.release(self._place)


def _waits(saved: CheckpointTuple | None) -> bool:
    """Whether it has asked: then it goes on with what it was given at first, as in LangGraph."""
    return saved is None or any(channel == INTERRUPT for _, channel, _ in saved.pending_writes or ())
