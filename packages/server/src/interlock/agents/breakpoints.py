"""The breakpoints (`interrupt_before`, `interrupt_after`) that the graphs of a run come to, and those it may pass."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class NextNode:
    """A node that would run next."""

    node: str
    given: Any
    """What it would be given."""
    is_sent: bool = False
    """Whether it was sent what it is given, which is then in no state."""


@dataclass(frozen=True, slots=True)
class Breakpoint:
    checkpoint: str
    """The checkpoint at which its graph stands: no other stop has it, of whatever graph."""
    path: Sequence[str]
    """The nodes around the graph, from the outermost; none for the run's own graph."""
    due: Sequence[NextNode]
    after: Sequence[str] = ()
    """The nodes after which it stopped; none where it stopped before those that are due."""


@dataclass(slots=True)
class BreakpointRecord:
    allowed: Collection[str] = ()
    """The checkpoints at which a person said that the graph may go on."""
    reached: dict[str, Breakpoint] = field(default_factory=dict[str, Breakpoint])
    """Those at which a graph stopped in this attempt."""
    left: set[str] = field(default_factory=set[str])
    """The checkpoints that were followed by another one in this attempt: no graph stands there again."""

    def stops(self) -> list[Breakpoint]:
        return sorted(self.reached.values(), key=lambda one: (list(one.path), [due.node for due in one.due]))
