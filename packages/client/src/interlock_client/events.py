"""Events as the streams of the client tell them: of a conversation's requests, and of an agent at work."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlock_client.inbox import InboxEntry
from interlock_client.threads import RequestView

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RequestAsked:
    """`permission_asked`, `clarification_asked`, `decision_asked`, `env_var_requested`."""

    type: str
    request_id: str
    conversation_id: str
    data: Data
    """What is asked, with `created_at` and `expires_at`."""
    id: str | None = None


@dataclass(frozen=True, slots=True)
class RequestSettled:
    """Answered (`permission_replied`, `clarification_answered`, `decision_answered`, `env_var_provided`),
    `request_cancelled` or `request_expired`."""

    type: str
    request_id: str
    conversation_id: str
    response: Data | None
    answered_by: str | None
    answered_at: str | None
    source: str | None
    data: Data
    id: str | None = None

    @property
    def answered(self) -> bool:
        return self.type not in ("request_cancelled", "request_expired")


@dataclass(frozen=True, slots=True)
class OtherEvent:
    """What this version does not know."""

    type: str
    data: Data
    id: str | None = None


@dataclass(frozen=True, slots=True)
class InboxAsked:
    """Something waits for a person."""

    entry: InboxEntry


@dataclass(frozen=True, slots=True)
class InboxSettled:
    """It was answered, was cancelled or has expired."""

    entry: InboxEntry
    status: str
    """`answered`, `cancelled` or `expired`."""
    answered_by: str | None
    answered_at: str | None
    source: str | None
    value: Data | None
    """The answer, secret values as `***`; None without one."""
    reason: str | None = None
    """Why it was not answered, where somebody said so."""


@dataclass(frozen=True, slots=True)
class InboxExtended:
    entry: InboxEntry
    expires_at: str


@dataclass(frozen=True, slots=True)
class InboxGone:
    """Its conversation was deleted, or is not the caller's to see any more."""

    entry: InboxEntry


@dataclass(frozen=True, slots=True)
class InboxChanged:
    """Where it stands with its people is not as before: look at it again to know how for oneself."""

    entry: InboxEntry
    what: str
    """`voted`, `claimed`, `routed` or `commented`; `missed`: some of it, while there was no connection."""


InboxEvent = InboxAsked | InboxSettled | InboxExtended | InboxGone | InboxChanged

RequestEvent = RequestAsked | RequestSettled | OtherEvent


@dataclass(frozen=True, slots=True)
class Partial:
    """A piece of the agent's text; with `reset` the whole of it so far, in place of the pieces before."""

    thread_id: str
    content: str
    reset: bool = False
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolStart:
    thread_id: str
    tool: str
    input: Any
    call_id: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolEnd:
    thread_id: str
    tool: str
    output: str
    status: str
    """`success`, `failed` or `refused`."""
    call_id: str
    id: str | None = None
    outcome: str | None = None
    """Why it never ran: `refused`, `replied`, `cancelled` or `expired`. None: it ran."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """The agent waits for a person."""

    thread_id: str
    info: str
    requests: Sequence[RequestView]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    thread_id: str
    message: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class End:
    thread_id: str
    action: str | None = None
    """After `resume`: what was done, or `error` when the reply did not fit and everything is still pending."""
    id: str | None = None


ChatEvent = Partial | ToolStart | ToolEnd | Interrupt | Failed | End | OtherEvent

ASKED = ("permission_asked", "clarification_asked", "decision_asked", "env_var_requested")
SETTLED = (
    "permission_replied",
    "clarification_answered",
    "decision_answered",
    "env_var_provided",
    "request_cancelled",
    "request_expired",
)


def request_event(name: str, frame: Data, event_id: str | None) -> RequestEvent:
    if name not in (*ASKED, *SETTLED):
        return OtherEvent(name, frame, event_id)
    data: Data = frame["data"]
    where = (name, frame["request_id"], frame["conversation_id"])
    if name in ASKED:
        return RequestAsked(*where, data, event_id)
    by, at, source = data.get("answered_by"), data.get("answered_at"), data.get("source")
    return RequestSettled(*where, data.get("response"), by, at, source, data, event_id)


def chat_event(name: str, frame: Data, event_id: str | None) -> ChatEvent:
    reader = _CHAT.get(name)
    return OtherEvent(name, frame, event_id) if reader is None else reader(frame["thread_id"], frame, event_id)


def _partial(thread_id: str, frame: Data, event_id: str | None) -> ChatEvent:
    return Partial(thread_id, frame["content"], bool(frame.get("reset")), event_id)


def _tool_start(thread_id: str, frame: Data, event_id: str | None) -> ChatEvent:
    return ToolStart(thread_id, frame["tool"], frame["input"], frame["call_id"], event_id)


def _tool_end(thread_id: str, frame: Data, event_id: str | None) -> ChatEvent:
    ended = (frame["tool"], frame["output"], frame["status"], frame["call_id"])
    return ToolEnd(thread_id, *ended, event_id, frame.get("outcome"))


def _interrupt(thread_id: str, frame: Data, event_id: str | None) -> ChatEvent:
    requests = [RequestView.model_validate(one, extra="ignore") for one in frame["requests"]]
    return Interrupt(thread_id, frame["info"], requests, event_id)


def _failure(thread_id: str, frame: Data, event_id: str | None) -> ChatEvent:
    return Failed(thread_id, frame["message"], event_id)


def _end(thread_id: str, frame: Data, event_id: str | None) -> ChatEvent:
    return End(thread_id, frame.get("action"), event_id)


_CHAT: Mapping[str, Callable[[str, Data, str | None], ChatEvent]] = {
    "messages/partial": _partial,
    "tool/start": _tool_start,
    "tool/end": _tool_end,
    "interrupt": _interrupt,
    "error": _failure,
    "end": _end,
}
