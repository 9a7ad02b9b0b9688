"""From the thread's log to this face's six events."""

from collections.abc import Mapping, Sequence
from typing import Any

from interlock.domain.event import (
    AssistantMessage,
    Event,
    EventData,
    Live,
    Partial,
    PauseOpened,
    RequestSettled,
    RunEnded,
    ThreadDeleted,
    Token,
    ToolEnded,
    ToolStarted,
)
from interlock.domain.request import PublicRequest, RequestStatus
from interlock.domain.run import RunStatus
from interlock.faces.http.sse import Frame
from interlock.faces.threads.views import interrupt_fields
from interlock.texts import Locale
from interlock.texts import threads_text as text

Data = Mapping[str, Any]
Named = tuple[str, dict[str, Any]]

EVENTS = ("messages/partial", "tool/start", "tool/end", "interrupt", "error", "end")


class Frames:
    """Translates one stream. It remembers which text of the message under way its client has.

    `joined_late` says that the client may have missed tokens of what it is told first: the text of a message it did
    not see being written then comes as a whole, marked `reset`.
    """

    def __init__(self, thread_id: str, locale: Locale, *, joined_late: bool, end: Data | None = None) -> None:
        self._thread_id = thread_id
        self._locale: Locale = locale
        self._joined_late = joined_late
        self._end = dict(end or {})
        self._message_id: str | None = None
        self._seen: list[str] = []

    def of(self, item: Live) -> list[Frame]:
        if isinstance(item, Event):
            return self._event(item)
        if item.message_id != self._message_id:
            self._message_id, self._seen = item.message_id, []
        if isinstance(item, Partial):
            self._seen = [item.text]
            return [self._frame("messages/partial", {"content": item.text, "reset": True}, _token_id(item))]
        self._seen.append(item.text)
        return [self._frame("messages/partial", {"content": item.text}, _token_id(item))]

    def error(self, message: str) -> Frame:
        return self._frame("error", {"message": message, "data": {"message": message}}, None)

    def end(self, fields: Data | None = None) -> Frame:
        return self._frame("end", self._end if fields is None else fields, None)

    def interrupt(self, pause_id: str, requests: Sequence[PublicRequest], info: str | None = None) -> Frame:
        return self._frame("interrupt", interrupt_fields(pause_id, requests, self._locale, info), None)

    def _event(self, event: Event) -> list[Frame]:
        named = self._to_named(event.data)
        # Only the last frame of an event carries its number: who has it has seen the whole event.
        last = len(named) - 1
        return [
            self._frame(name, data, str(event.seq) if index == last else None)
            for index, (name, data) in enumerate(named)
        ]

    def _frame(self, name: str, data: Data, frame_id: str | None) -> Frame:
        return Frame(name, {"event": name, "type": name, "thread_id": self._thread_id, **data}, frame_id)

    def _to_named(self, data: EventData) -> list[Named]:
        match data:
            case AssistantMessage():
                return self._message(data)
            case ToolStarted(call_id, tool, given):
                return [("tool/start", {"tool": tool, "input": given, "call_id": call_id})]
            case ToolEnded(call_id, tool, output, status):
                return [("tool/end", {"tool": tool, "output": output, "status": status, "call_id": call_id})]
            case PauseOpened(pending=[]):
                return []
            case PauseOpened():
                return [("interrupt", interrupt_fields(data.pause_id, data.pending, self._locale))]
            case RequestSettled():
                return self._end_call(data)
            case RunEnded():
                return self._run_ended(data)
            case ThreadDeleted():
                return [*_error(text("deleted", self._locale)), ("end", self._end)]
            case _:
                return []

    def _message(self, message: AssistantMessage) -> list[Named]:
        seen = "".join(self._seen) if message.message_id == self._message_id else ""
        self._message_id, self._seen = None, []
        if not message.text or seen == message.text:
            return []
        fields: dict[str, Any] = {"content": message.text}
        if seen or self._joined_late:
            fields["reset"] = True
        return [("messages/partial", fields)]

    def _end_call(self, settled: RequestSettled) -> list[Named]:
        """An approval that was not given ends its call here: the tool never starts."""
        if settled.call is None or settled.runs:
            return []
        is_reply = settled.is_reply
        ended = {
            "tool": settled.call.tool,
            "output": settled.message or text("refused", self._locale),
            "status": "success" if is_reply else "refused",
            "call_id": settled.call.call_id,
        }
        # A reply is a success to the agent, and no call that ran to whoever reads along.
        return [("tool/end", {**ended, "outcome": _outcome(settled)})]

    def _run_ended(self, ended: RunEnded) -> list[Named]:
        frames: list[Named] = [("end", self._end)]
        if ended.status is RunStatus.FAILED:
            return [*_error(ended.error or ""), *frames]
        if ended.status is RunStatus.NOT_ANSWERED:
            return [*_error(text("not_answered", self._locale)), *frames]
        return frames


def _outcome(settled: RequestSettled) -> str:
    """Why the call did not run."""
    if settled.status is not RequestStatus.ANSWERED:
        return settled.status
    return "replied" if settled.is_reply else "refused"


def _error(message: str) -> list[Named]:
    return [("error", {"message": message, "data": {"message": message}})]


def _token_id(item: Token | Partial) -> str:
    return f"{item.seq}.{item.part}"
