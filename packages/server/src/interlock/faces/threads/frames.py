"""From the thread's log to this face's six events."""

from collections.abc import Callable, Mapping
from typing import Any

from interlock.domain.event import Event, EventType, Live, Partial, Token
from interlock.domain.request import RequestKind, RequestStatus
from interlock.domain.run import RunStatus
from interlock.faces.http.locale import Locale
from interlock.faces.http.sse import Frame
from interlock.faces.threads import texts
from interlock.faces.threads.views import interrupt_fields

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

    def interrupt(self, pause_id: str, requests: list[dict[str, Any]]) -> Frame:
        return self._frame("interrupt", interrupt_fields(pause_id, requests, self._locale), None)

    def _event(self, event: Event) -> list[Frame]:
        translate = _EVENTS.get(event.type)
        named = translate(self, event.data) if translate else []
        # Only the last frame of an event carries its number: who has it has seen the whole event.
        last = len(named) - 1
        return [
            self._frame(name, data, str(event.seq) if index == last else None)
            for index, (name, data) in enumerate(named)
        ]

    def _frame(self, name: str, data: Data, frame_id: str | None) -> Frame:
        return Frame(name, {"event": name, "type": name, "thread_id": self._thread_id, **data}, frame_id)

    def _message(self, data: Data) -> list[Named]:
        same = data["message_id"] == self._message_id
        seen = "".join(self._seen) if same else ""
        self._message_id, self._seen = None, []
        if not data["text"] or seen == data["text"]:
            return []
        fields: dict[str, Any] = {"content": data["text"]}
        if seen or self._joined_late:
            fields["reset"] = True
        return [("messages/partial", fields)]

    def _tool_started(self, data: Data) -> list[Named]:
        return [("tool/start", {key: data[key] for key in ("tool", "input", "call_id")})]

    def _tool_ended(self, data: Data) -> list[Named]:
        return [("tool/end", {key: data[key] for key in ("tool", "output", "status", "call_id")})]

    def _paused(self, data: Data) -> list[Named]:
        settled = data.get("settled", ())
        waiting = [request for request in data["requests"] if request["request_id"] not in settled]
        return [("interrupt", interrupt_fields(data["pause_id"], waiting, self._locale))] if waiting else []

    def _settled(self, data: Data) -> list[Named]:
        """An approval that was not given ends its call here: the tool never starts."""
        if data["kind"] != RequestKind.APPROVAL:
            return []
        value: Data = data["value"] or {}
        decision = value.get("decision") if data["status"] == RequestStatus.ANSWERED else "reject"
        if decision in ("accept", "edit"):
            return []
        output = value.get("message") or data.get("reason") or texts.text("refused", self._locale)
        status = "success" if decision == "response" else "refused"
        ended = {"tool": data["tool"], "output": output, "status": status, "call_id": data["call_id"]}
        # A reply is a success to the agent, and no call that ran to whoever reads along.
        return [("tool/end", {**ended, "outcome": _outcome(data["status"], decision)})]

    def _run_ended(self, data: Data) -> list[Named]:
        ending: list[Named] = [("end", self._end)]
        if data["status"] == RunStatus.FAILED:
            return [*_error(data["error"]), *ending]
        if data["status"] == RunStatus.NOT_ANSWERED:
            return [*_error(texts.text("not_answered", self._locale)), *ending]
        return ending

    def _deleted(self, _data: Data) -> list[Named]:
        return [*_error(texts.text("deleted", self._locale)), ("end", self._end)]


def _outcome(status: str, decision: str | None) -> str:
    """Why the call did not run."""
    if status != RequestStatus.ANSWERED:
        return str(status)
    return "replied" if decision == "response" else "refused"


def _error(message: str) -> list[Named]:
    return [("error", {"message": message, "data": {"message": message}})]


def _token_id(item: Token | Partial) -> str:
    return f"{item.seq}.{item.part}"


_EVENTS: Mapping[EventType, Callable[[Frames, Data], list[Named]]] = {
    EventType.ASSISTANT_MESSAGE: Frames._message,  # pyright: ignore[reportPrivateUsage]
    EventType.TOOL_STARTED: Frames._tool_started,  # pyright: ignore[reportPrivateUsage]
    EventType.TOOL_ENDED: Frames._tool_ended,  # pyright: ignore[reportPrivateUsage]
    EventType.PAUSE_OPENED: Frames._paused,  # pyright: ignore[reportPrivateUsage]
    EventType.REQUEST_SETTLED: Frames._settled,  # pyright: ignore[reportPrivateUsage]
    EventType.RUN_ENDED: Frames._run_ended,  # pyright: ignore[reportPrivateUsage]
    EventType.THREAD_DELETED: Frames._deleted,  # pyright: ignore[reportPrivateUsage]
}
