"""One entry of a thread's append-only log. Every stream of every face is a view of it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class EventType(StrEnum):
    THREAD_CREATED = "thread.created"
    THREAD_DELETED = "thread.deleted"
    USER_MESSAGE = "message.user"
    ASSISTANT_MESSAGE = "message.assistant"
    TOOL_STARTED = "tool.started"
    TOOL_ENDED = "tool.ended"
    RUN_STARTED = "run.started"
    RUN_ENDED = "run.ended"
    PAUSE_OPENED = "pause.opened"
    REQUEST_SETTLED = "request.settled"
    REQUEST_EXTENDED = "request.extended"
    """Somebody gave it more time."""
    CUSTOM = "custom"
    """What a graph wrote with LangGraph's stream writer."""


@dataclass(frozen=True, slots=True)
class Event:
    thread_id: str
    seq: int
    type: EventType
    data: dict[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a message that is being written: live only, never in the log.

    `seq` is the number of the last event before it, `part` counts the tokens since that event.
    """

    thread_id: str
    seq: int
    part: int
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Partial:
    """All of a message that has been written so far, for a follower that missed some of its tokens."""

    thread_id: str
    seq: int
    part: int
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Looking:
    """Somebody has a request on their screen: live only, and never a lock."""

    thread_id: str
    request_id: str
    name: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Call:
    """To the workers of other processes: there is a run to be begun, or one to be stopped. Live only; they also look
    for themselves."""

    run_id: str
    is_stop: bool = False


Live = Event | Token | Partial
