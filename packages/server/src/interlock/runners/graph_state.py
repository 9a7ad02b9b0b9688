"""The state of a paused graph, as recovery reads it: what it waits for, and what is left to run."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Interrupt, PregelTask, StateSnapshot

from interlock.runners.loading import Graph
from interlock.runners.transcript import messages_in

RUN_KEY = "interlock_run"
"""The key under which every checkpoint says which run wrote it."""


@dataclass(frozen=True, slots=True)
class Pending:
    interrupt: Interrupt[Any]
    node: str
    messages: list[AnyMessage]
    """Those of the graph that raised it, which may be a subgraph."""


@dataclass(frozen=True, slots=True)
class GraphState:
    messages: list[AnyMessage]
    pending: dict[str, Pending]
    """Interrupts that wait for an answer, by id, in order."""
    next: tuple[str, ...]
    has_unfinished: bool
    """Whether a task is left that neither ended nor asked."""
    written_by: str | None
    """The run that wrote the newest checkpoint."""


async def read_state(graph: Graph, config: RunnableConfig) -> GraphState:
    snapshot = await graph.aget_state(config)
    if any(task.state is not None and task.interrupts for task in snapshot.tasks):
        snapshot = await graph.aget_state(config, subgraphs=True)
    pending: dict[str, Pending] = {}
    for one in _pending(snapshot):
        pending.setdefault(one.interrupt.id, one)
    metadata: dict[str, Any] = dict(snapshot.metadata or {})
    return GraphState(
        messages_in(snapshot.values),
        pending,
        snapshot.next,
        any(not task.interrupts and task.result is None for task in snapshot.tasks),
        metadata.get(RUN_KEY),
    )


def _pending(snapshot: StateSnapshot) -> Iterator[Pending]:
    messages = messages_in(snapshot.values)
    waiting = {interrupt.id for interrupt in snapshot.interrupts}
    for task in snapshot.tasks:
        inner = {one.interrupt.id: one for one in _inside(task)}
        for interrupt in task.interrupts:
            if interrupt.id in waiting:
                yield inner.get(interrupt.id) or Pending(interrupt, task.name, messages)


def _inside(task: PregelTask) -> Iterator[Pending]:
    if isinstance(task.state, StateSnapshot):
        yield from _pending(task.state)
