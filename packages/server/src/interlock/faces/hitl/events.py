"""From a thread's log to this face's events: what was asked, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from interlock.domain.errors import FieldError, InvalidInput
from interlock.domain.event import Event, Live, PauseOpened, RequestSettled
from interlock.domain.request import PublicRequest, Request
from interlock.faces.hitl import views
from interlock.texts import Locale

RenderedEvent = tuple[dict[str, Any], str | None]
"""An event of this face, and the id that it carries: the number of its entry in the log for the last event of an entry,
`NUMBER.COUNT` for those before it."""


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """How far a client has come in a log."""

    seq: int
    """It has seen every entry up to this one."""
    part: int = 0
    """And so many of the requests that the next entry tells of."""


def read_place(text: str | None, seq: int, field: str) -> StreamPosition | None:
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
    return StreamPosition(int(number) - 1, int(part)) if part else StreamPosition(int(number))


def render_events(item: Live | None, since: StreamPosition, locale: Locale) -> list[RenderedEvent]:
    """What an entry of the log tells a client that goes on from a place."""
    if not isinstance(item, Event):
        return []
    match item.data:
        case PauseOpened(requests=requests, settled=settled):
            seen = since.part if item.seq == since.seq + 1 else 0
            events = [
                (position, views.asked_event(item.thread_id, one, locale))
                for position, one in enumerate(requests)
                if position >= seen and one.request_id not in settled
            ]
            return _number(events, item.seq)
        case RequestSettled() as settled:
            return _number([(0, views.settled_event(item.thread_id, settled))], item.seq)
        case _:
            return []


def still_pending(
    conversation_id: str, requests: Sequence[Request], opened_seq: int | None, locale: Locale
) -> list[RenderedEvent]:
    """What one pause still waits for, under the ids of the events that told of it first."""
    events = [(one.position, views.asked_event(conversation_id, PublicRequest.of(one), locale)) for one in requests]
    return _number(events, opened_seq)


def _number(events: Sequence[tuple[int, dict[str, Any]]], seq: int | None) -> list[RenderedEvent]:
    if seq is None:
        return [(event, None) for _, event in events]
    last = len(events) - 1
    return [
        (event, str(seq) if index == last else f"{seq}.{position + 1}")
        for index, (position, event) in enumerate(events)
    ]
