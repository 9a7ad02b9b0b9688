"""Asks that ended side by side in an exception group, as `asyncio.TaskGroup` raises them: one pause asks them all."""

from collections.abc import Iterator
from typing import Any, cast

from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt

from interlock.agents._langgraph_asks import Positions
from interlock.agents.ask_record import AskRecord
from interlock.agents.asking import EffectSkipped, NotAnswered
from interlock.agents.context import current


def as_one(group: ExceptionGroup[Exception], *, is_tool: bool = False) -> Exception:
    """What the group says, where all of it are asks, or effects that were skipped; else the group.

    Asks that nobody has answered yet come before the others. A plain node sees the latter as they are.
    """
    run = current.get()
    leaves = list(_leaves(group))
    if run is None or not all(isinstance(one, GraphInterrupt | NotAnswered | EffectSkipped) for one in leaves):
        return group
    asking = [one for one in leaves if isinstance(one, GraphInterrupt)]
    if asking:
        return GraphInterrupt(tuple(_each_by_its_own_id([one for error in asking for one in error.args[0]], run.asks)))
    return leaves[0] if is_tool else group


def _leaves(group: ExceptionGroup[Exception]) -> Iterator[Exception]:
    for one in group.exceptions:
        if isinstance(one, ExceptionGroup):
            yield from _leaves(cast("ExceptionGroup[Exception]", one))
        else:
            yield one


def _each_by_its_own_id(interrupts: list[Interrupt[Any]], asks: AskRecord) -> Iterator[Interrupt[Any]]:
    """Asks of one task in one attempt share an id, since none of them knows of the others."""
    positions = Positions()
    position = len(positions.ids)
    shared = positions.id_at(position)
    for one in interrupts:
        if one.id != shared:
            # Of a graph inside.
            yield one
            continue
        own = Interrupt[Any](one.value, positions.id_at(position), response_schema=one.response_schema)
        asks.renamed(one, own)
        position += 1
        yield own
