"""The state of a paused graph, as recovery reads it: what it waits for, and what is left to run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

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
    checkpoint: RunnableConfig | None = None
    parent: RunnableConfig | None = None
    has_tasks: bool = False
    """Whether the graph has not come to its end. `next` alone leaves out the tasks that ended while the checkpoint
    after them was not written: a crash there looks like an end."""

    @property
    def checkpoint_id(self) -> str | None:
        return (self.checkpoint or {}).get("configurable", {}).get("checkpoint_id")


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
        snapshot.config,
        snapshot.parent_config,
        bool(snapshot.tasks),
    )


async def stands_at_breakpoint(graph: Graph, config: RunnableConfig, state: GraphState) -> bool:
    """Whether the graph was compiled to stop where it stands.

    A stop leaves no trace of its own: after a crash it looks as if the next node were simply due.
    """
    if _named(graph.interrupt_before_nodes, state.next):
        return True
    if not graph.interrupt_after_nodes or state.parent is None:
        return False
    earlier: Any = {
        **config,
        "configurable": {**config.get("configurable", {}), **state.parent.get("configurable", {})},
    }
    return _named(graph.interrupt_after_nodes, (await graph.aget_state(earlier)).next)


def _named(stops: Literal["*"] | Sequence[str], nodes: Sequence[str]) -> bool:
    return bool(nodes) if stops == "*" else any(node in stops for node in nodes)


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
