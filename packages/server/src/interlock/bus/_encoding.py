"""Live items as JSON, for a bus between processes."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from interlock.domain import event_json
from interlock.domain.event import Call, Event, EventType, Looking, Partial, Token

Item = Event | Token | Partial | Looking | Call


def encode(item: Item) -> bytes:
    fields = _fields(item)
    # Halves of characters, which a model may stream, are no UTF-8: as escapes they are.
    return json.dumps([type(item).__name__, *fields], separators=(",", ":")).encode()


def decode(content: bytes) -> Item:
    """`ValueError` for what another version of Interlock wrote, and this one does not know."""
    try:
        name, *fields = json.loads(content)
        return _READERS[name](*fields)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not an item of this version: {error}") from error


def _fields(item: Item) -> list[Any]:
    match item:
        case Event():
            return [item.thread_id, item.seq, item.type, event_json.to_json(item.data), item.at.isoformat()]
        case Looking():
            return [item.thread_id, item.request_id, item.name, item.until.isoformat()]
        case Call():
            return [item.run_id, item.is_stop]
        case Token() | Partial():
            return [item.thread_id, item.seq, item.part, item.message_id, item.text]


def _event(thread_id: str, seq: int, kind: str, data: dict[str, Any], at: str) -> Event:
    written_at = datetime.fromisoformat(at)
    return Event(thread_id, seq, event_json.from_json(EventType(kind), data, written_at), written_at)


def _read_looking(thread_id: str, request_id: str, name: str, until: str) -> Looking:
    return Looking(thread_id, request_id, name, datetime.fromisoformat(until))


_READERS: Mapping[str, Callable[..., Item]] = {
    "Call": Call,
    "Event": _event,
    "Looking": _read_looking,
    "Token": Token,
    "Partial": Partial,
}
