"""Where Interlock reaches into LangGraph's breakpoints.

LangGraph passes a breakpoint whenever the graph is resumed, for whatever reason: after a crash, or because another
question was answered. A stop leaves no trace either. Here each graph, wherever it was called, asks the record of its
run instead, at every step: only a person who was asked about this very checkpoint lets it go on.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

from langgraph._internal._constants import INTERRUPT, NS_END, PUSH
from langgraph.errors import GraphInterrupt
from langgraph.pregel._loop import PregelLoop

from interlock.agents._langgraph import KEEPING, Persistence
from interlock.agents.breakpoints import Breakpoint, BreakpointRecord, NextNode
from interlock.domain.errors import InterlockError

AFTER = "interlock_after"
"""The key under which a checkpoint says which of the nodes before it its graph stops after."""


class BreakpointNotKept(InterlockError):
    """Nobody could let the graph go on: it would begin anew, and stop there again."""

    code = "breakpoint_not_kept"


def guard_breakpoints(find: Callable[[], BreakpointRecord | None]) -> None:
    """Have every graph of a hosted run ask the record of its run. It stands on the class of LangGraph's loops."""
    loop = cast("Any", PregelLoop)
    tick, after_tick, put_checkpoint = loop.tick, loop.after_tick, loop._put_checkpoint
    if getattr(tick, "interlock", False):
        return

    def record_of(self: Any) -> BreakpointRecord | None:
        """A graph with a thread of its own is let go on by the code that called it, if at all."""
        is_apart = self.config["configurable"].get(KEEPING, Persistence.APART) is Persistence.APART
        return None if is_apart else find()

    def guard_tick(self: Any) -> bool:
        record = record_of(self)
        return tick(self) if record is None else _tick(tick, self, record)

    def guard_after_tick(self: Any) -> None:
        record = record_of(self)
        return after_tick(self) if record is None else _after_tick(after_tick, self, record)

    def mark_checkpoint(self: Any, metadata: Any) -> None:
        is_step = metadata is not self.checkpoint_metadata and metadata.get("source") == "loop"
        if is_step and self.interrupt_after and record_of(self) is not None:
            metadata[AFTER] = [task.name for task in self.tasks.values() if _stops(self.interrupt_after, task)]
        put_checkpoint(self, metadata)

    cast("Any", guard_tick).interlock = True
    loop.tick, loop.after_tick, loop._put_checkpoint = guard_tick, guard_after_tick, mark_checkpoint


def _tick(tick: Callable[[Any], bool], loop: Any, record: BreakpointRecord) -> bool:
    if loop.checkpoint["id"] in record.allowed:
        before, loop.interrupt_before = loop.interrupt_before, ()
        try:
            return tick(loop)
        finally:
            loop.interrupt_before = before
    _check_stopped_after(loop, record)
    try:
        return _unseen(tick, loop)
    except GraphInterrupt:
        _reach(loop, record, [task for task in loop.tasks.values() if _stops(loop.interrupt_before, task)])
        raise


def _after_tick(after_tick: Callable[[Any], None], loop: Any, record: BreakpointRecord) -> None:
    checkpoint = loop.checkpoint["id"]
    try:
        _unseen(after_tick, loop)
    except GraphInterrupt:
        _reach(loop, record, loop.tasks.values(), loop.checkpoint_metadata[AFTER])
        raise
    finally:
        if loop.checkpoint["id"] != checkpoint:
            record.left.add(checkpoint)


def _unseen(step: Callable[[Any], Any], loop: Any) -> Any:
    """Have LangGraph forget that it was resumed here, for which it would pass the breakpoint."""
    loop.checkpoint["versions_seen"].pop(INTERRUPT, None)
    return step(loop)


def _stops(nodes: Any, task: Any) -> bool:
    return nodes == "*" or task.name in nodes


def _check_stopped_after(loop: Any, record: BreakpointRecord) -> None:
    """Stop again where a graph had stopped after a node: LangGraph looks for that only when the node has run."""
    metadata = loop.checkpoint_metadata
    # A checkpoint of an older version does not say it.
    is_unknown = bool(loop.interrupt_after) and metadata.get("source") == "loop" and AFTER not in metadata
    if is_unknown or metadata.get(AFTER):
        loop._prepare_tasks_and_emit_checkpoint()
        if loop.tasks or loop.is_nested:
            loop.status = "interrupt_after"
            _reach(loop, record, loop.tasks.values(), metadata.get(AFTER, ()))
            raise GraphInterrupt


def _reach(loop: Any, record: BreakpointRecord, tasks: Any, after: Sequence[str] = ()) -> None:
    due = [NextNode(task.name, task.input, task.path[0] == PUSH) for task in tasks]
    if not due and not loop.is_nested:
        return  # Nothing comes after it.
    checkpoint = loop.checkpoint["id"]
    path = [part.split(NS_END)[0] for part in loop.checkpoint_ns if part and not part.isdigit()]
    if loop.config["configurable"][KEEPING] is Persistence.UNSAVED:
        where = ", ".join(after or [one.node for one in due])
        raise BreakpointNotKept(
            f"the graph in {'/'.join(path)} was compiled to stop at {where}, and with checkpointer=False: it could not "
            "go on from there; compile it without checkpointer=False, or without the breakpoint"
        ) from None
    record.reached[checkpoint] = Breakpoint(checkpoint, path, due, after)
