"""From a thread's log to this face's events: what was asked, and what became of it."""

from collections.abc import Sequence
from typing import Any

from interlock.domain.event import Event, EventType, Live
from interlock.domain.request import Request, described
from interlock.faces.hitl import views

Told = tuple[dict[str, Any], str | None]
"""An event of this face, and the number that it carries. Of several from one entry of the log only the last has it: who
has the number has seen them all."""


def told_of(item: Live) -> list[Told]:
    if not isinstance(item, Event):
        return []
    if item.type is EventType.PAUSE_OPENED:
        settled = item.data.get("settled", ())
        asked = [one for one in item.data["requests"] if one["request_id"] not in settled]
        return _numbered([views.asked_event(item.thread_id, one) for one in asked], item.seq)
    if item.type is EventType.REQUEST_SETTLED:
        return _numbered([views.settled_event(item.thread_id, item.data)], item.seq)
    return []


def still_pending(conversation_id: str, requests: Sequence[Request], opened_seq: int | None) -> list[Told]:
    """What one pause still waits for, under the number of the event that told of it first."""
    return _numbered([views.asked_event(conversation_id, described(one)) for one in requests], opened_seq)


def _numbered(events: list[dict[str, Any]], seq: int | None) -> list[Told]:
    last = len(events) - 1
    return [(event, str(seq) if index == last and seq else None) for index, event in enumerate(events)]
