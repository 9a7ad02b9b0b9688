"""The state of a paused graph, as recovery reads it: what it waits for, and what is left to run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.types import Interrupt, PregelTask, StateSnapshot

from interlock.agents._langgraph import CHECKPOINTER, INTERRUPT, NS_END, NS_SEP
from interlock.agents._langgraph_asks import is_asked_by
from interlock.runners.loading import Graph
from interlock.runners.transcript import messages_in

RUN_KEY = "interlock_run"
"""The key under which every checkpoint says which run wrote it."""
MOST_SAVED = 60
"""How many of the newest checkpoints are looked at for those of a graph inside a tool."""


@dataclass(frozen=True, slots=True)
class PendingInterrupt:
    interrupt: Interrupt[Any]
    node: str
    messages: list[AnyMessage]
    """Those of the graph that raised it, which may be a subgraph; of one inside a tool, those of the tool's graph."""
    graph: str | None = None
    """The path of the graph that raised it; None for one inside a tool, of which nothing is known."""
    space: str = ""
    """The namespace of the task that waits."""
    inner: Sequence[AnyMessage] = ()
    """The messages of a graph inside a tool."""
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The state of the graph that raised it; empty for one inside a tool."""

    @property
    def call_messages(self) -> Sequence[AnyMessage]:
        """The messages in which the calls are that it may be about."""
        return self.inner if self.graph is None else self.messages


@dataclass(frozen=True, slots=True)
class GraphState:
    messages: list[AnyMessage]
    pending: dict[str, PendingInterrupt]
    """Interrupts that wait for an answer, by id, in order."""
    next: tuple[str, ...]
    has_unfinished: bool
    """Whether a task is left that neither ended nor asked."""
    written_by: str | None
    """The run that wrote the newest checkpoint."""
    checkpoint: RunnableConfig | None = None
    has_tasks: bool = False
    """Whether the graph has not come to its end. `next` alone leaves out the tasks that ended while the checkpoint
    after them was not written: a crash there looks like an end."""
    values: Any = None

    @property
    def checkpoint_id(self) -> str | None:
        return (self.checkpoint or {}).get("configurable", {}).get("checkpoint_id")


async def read_state(graph: Graph, config: RunnableConfig) -> GraphState:
    snapshot = await graph.aget_state(config)
    if any(task.state is not None and task.interrupts for task in snapshot.tasks):
        snapshot = await graph.aget_state(config, subgraphs=True)
    pending: dict[str, PendingInterrupt] = {}
    for one in _pending_interrupts(snapshot, ""):
        if one.graph is None:
            one = replace(one, inner=await messages_inside(config, one.space, one.interrupt.id))
        pending.setdefault(one.interrupt.id, one)
    metadata: dict[str, Any] = dict(snapshot.metadata or {})
    return GraphState(
        messages_in(snapshot.values),
        pending,
        snapshot.next,
        any(not task.interrupts and task.result is None for task in snapshot.tasks),
        metadata.get(RUN_KEY),
        snapshot.config,
        bool(snapshot.tasks),
        snapshot.values,
    )


def _pending_interrupts(snapshot: StateSnapshot, path: str) -> Iterator[PendingInterrupt]:
    messages = messages_in(snapshot.values)
    waiting = {interrupt.id for interrupt in snapshot.interrupts}
    outer: str = snapshot.config.get("configurable", {}).get("checkpoint_ns", "")
    for task in snapshot.tasks:
        inner = {one.interrupt.id: one for one in _inside(task, path)}
        space = NS_SEP.join(part for part in (outer, f"{task.name}{NS_END}{task.id}") if part)
        for interrupt in task.interrupts:
            if interrupt.id in waiting:
                graph = path if is_asked_by(space, interrupt.id) else None
                values = _by_name(snapshot.values if graph is not None else None)
                yield inner.get(interrupt.id) or PendingInterrupt(
                    interrupt, task.name, messages, graph, space, values=values
                )


def _by_name(values: Any) -> Mapping[str, Any]:
    """A state may be of any type."""
    return cast("Mapping[str, Any]", values) if isinstance(values, Mapping) else {}


def _inside(task: PregelTask, path: str) -> Iterator[PendingInterrupt]:
    if isinstance(task.state, StateSnapshot):
        yield from _pending_interrupts(task.state, NS_SEP.join(part for part in (path, task.name) if part))


async def messages_inside(config: RunnableConfig, space: str, interrupt_id: str) -> list[AnyMessage]:
    """The messages of a graph that runs inside a tool and asks: nobody sees its state, but what it saved is there."""
    configurable = config.get("configurable", {})
    saver: BaseCheckpointSaver[Any] = configurable[CHECKPOINTER]
    asking: str | None = None
    async for saved in saver.alist({"configurable": {"thread_id": configurable["thread_id"]}}, limit=MOST_SAVED):
        found: str = saved.config.get("configurable", {}).get("checkpoint_ns", "")
        if asking is None and f"{found}{NS_SEP}".startswith(f"{space}{NS_SEP}") and _asks(saved, interrupt_id):
            asking = found
        if found == asking and (messages := _saved_messages(saved)):
            return messages
    return []


def _asks(saved: CheckpointTuple, interrupt_id: str) -> bool:
    writes = [value for _, channel, value in saved.pending_writes or () if channel == INTERRUPT]
    return any(interrupt.id == interrupt_id for interrupts in writes for interrupt in interrupts)


def _saved_messages(saved: CheckpointTuple) -> list[AnyMessage]:
    """Of the checkpoint, or, where a channel keeps only what was added to it, of what was written after it."""
    written = [value for _, channel, value in saved.pending_writes or () if channel == "messages"]
    return messages_in(saved.checkpoint["channel_values"]) or messages_in({"messages": _flat(written)})


def _flat(written: Sequence[Any]) -> list[Any]:
    return [one for value in written for one in (cast("list[Any]", value) if isinstance(value, list) else [value])]
