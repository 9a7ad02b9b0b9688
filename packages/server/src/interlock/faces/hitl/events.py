"""From a thread's log to this face's events: what was asked, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from interlock.domain.errors import FieldError, InvalidInput
from interlock.domain.event import Event, EventType, Live
from interlock.domain.request import Request, described
from interlock.faces.hitl import views
from interlock.faces.http.locale import Locale

Told = tuple[dict[str, Any], str | None]
"""An event of this face, and the id that it carries: the number of its entry in the log for the last event of an entry,
`NUMBER.COUNT` for those before it."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far a client has come in a log."""

    seq: int
    """It has seen every entry up to this one."""
    part: int = 0
    """And so many of the requests that the next entry tells of."""


def read_place(text: str | None, seq: int, field: str) -> Place | None:
    """The place that an event's id names, in a log that has come to `seq`; None for a client that has seen nothing.

    So has one with an id that the log has not reached, say from before a restored backup: nothing must be hidden.
    """
    if text is None or not text.strip():
        return None
    number, _, part = text.strip().partition(".")
    if not all(one.isascii() and one.isdigit() and len(one) <= 18 for one in (number, part or "0")):
        message = f"{field} is the id of an event of this conversation"
        raise InvalidInput(message, [FieldError(field, "form", message)])
    if int(number) > seq:
        return None
    return Place(int(number) - 1, int(part)) if part else Place(int(number))


def told_of(item: Live | None, since: Place, locale: Locale) -> list[Told]:
    """What an entry of the log tells a client that goes on from a place."""
    if not isinstance(item, Event):
        return []
    if item.type is EventType.PAUSE_OPENED:
        settled = item.data.get("settled", ())
        seen = since.part if item.seq == since.seq + 1 else 0
        asked = [
            (position, views.asked_event(item.thread_id, one, locale))
            for position, one in enumerate(item.data["requests"])
            if position >= seen and one["request_id"] not in settled
        ]
        return _numbered(asked, item.seq)
    if item.type is EventType.REQUEST_SETTLED:
        return _numbered([(0, views.settled_event(item.thread_id, item.data))], item.seq)
    return []


def still_pending(
    conversation_id: str, requests: Sequence[Request], opened_seq: int | None, locale: Locale
) -> list[Told]:
    """What one pause still waits for, under the ids of the events that told of it first."""
    asked = [(one.position, views.asked_event(conversation_id, described(one), locale)) for one in requests]
    return _numbered(asked, opened_seq)


def _numbered(events: Sequence[tuple[int, dict[str, Any]]], seq: int | None) -> list[Told]:
    if seq is None:
        return [(event, None) for _, event in events]
    last = len(events) - 1
    return [
        (event, str(seq) if index == last else f"{seq}.{position + 1}")
        for index, (position, event) in enumerate(events)
    ]
