"""From a session's log to the events of this face."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from interlock.domain.event import Event, EventType, Live, Partial
from interlock.domain.request import Request, RequestKind, RequestStatus
from interlock.domain.run import RunStatus
from interlock.domain.translation import in_language
from interlock.faces.confirm.steps import Step, step_of, told_step
from interlock.faces.confirm.texts import asking, described, text
from interlock.faces.http.locale import Locale
from interlock.services.pending import Standing
from interlock_client.confirm import AgentEvents, ErrorTypes

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """One event as a client is told it, but for what is the same for all of a connection."""

    event: str
    content: Any
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    step_id: str | None = None


class Story:
    """What one client is told of one session, from a place in its log on.

    Up to where the log had come when the client came, nobody is asked anything: what was settled meanwhile is not to be
    asked again. From there on the first `batch_size` confirmations that are pending are asked for, and each further one
    when its turn comes.
    """

    def __init__(self, locale: Locale, batch_size: int, standing: Standing, *, joined_late: bool, said: str) -> None:
        self._locale: Locale = locale
        self._batch_size = batch_size
        self._present = standing.seq
        self._is_present = False
        self._joined_late = joined_late
        self._pending: dict[str, Step] = {}
        self._asked: set[str] = set()
        self._past: dict[str, Step] = {}
        self._message_id: str | None = None
        self._seen: list[str] = []
        self._said = said
        for pause, requests in standing.open:
            self._wait_for(_steps(pause.opened_seq, requests))

    def missing(self, item: Live) -> str | None:
        """The pause of which this entry tells the end, where its beginning was told to nobody here: see `learn`."""
        if not isinstance(item, Event) or item.type is not EventType.REQUEST_SETTLED:
            return None
        request_id = item.data["request_id"]
        return None if request_id in self._pending or request_id in self._past else item.data["pause_id"]

    def learn(self, opened_seq: int | None, requests: Iterable[Request]) -> None:
        self._past |= {step.asked["request_id"]: step for step in _steps(opened_seq, requests)}

    def begin(self, after: int) -> list[Said]:
        """What is to be told before anything else: what is pending, for who has missed nothing."""
        return self._arrive() if after >= self._present else []

    def of(self, item: Live) -> list[Said]:
        if not isinstance(item, Event):
            return [self._token(item)]
        said = self._arrive() if item.seq > self._present else []
        translate = _ENTRIES.get(item.type)
        said += translate(self, item) if translate else []
        return said + (self._arrive() if item.seq == self._present else [])

    def _arrive(self) -> list[Said]:
        if self._is_present:
            return []
        self._is_present = True
        return self._ask()

    def _wait_for(self, steps: Iterable[Step]) -> None:
        self._pending |= {step.asked["request_id"]: step for step in steps}

    def _ask(self) -> list[Said]:
        turn = [*self._pending.items()][: self._batch_size]
        due = [step for request_id, step in turn if request_id not in self._asked]
        self._asked |= {request_id for request_id, _ in turn}
        return [self._confirm(step) for step in due]

    def _confirm(self, step: Step) -> Said:
        kind, body = step.kind, in_language(step.body, self._locale)
        is_approval = kind is RequestKind.APPROVAL
        shown = ("tool_display_name", "risk_level", "allowed", "details")
        more = {name: body[name] for name in shown if name in body} if is_approval else {"request": dict(body)}
        metadata = {
            "tool_name": step.tool,
            "tool_description": described(kind, body, self._locale),
            "tool_args": body["args"] if is_approval else dict(body),
            "requires_confirmation": True,
            "kind": kind,
            "request_id": step.asked["request_id"],
            "pause_id": step.asked["pause_id"],
            "timeout_seconds": step.seconds,
            "expires_at": step.asked["expires_at"],
            **more,
        }
        return Said(AgentEvents.USER_CONFIRM, asking(kind, body, self._locale), metadata, step.id)

    def _token(self, item: Any) -> Said:
        is_whole = isinstance(item, Partial)
        if is_whole or item.message_id != self._message_id:
            self._seen = []
        self._message_id = item.message_id
        self._seen.append(item.text)
        return _partial(item.message_id, item.text, reset=is_whole)

    def _turn(self, _event: Event) -> list[Said]:
        self._said = ""
        return []

    def _thinking(self, event: Event) -> list[Said]:
        metadata = {"run_id": event.data["run_id"], "cause": event.data["cause"]}
        return [Said(AgentEvents.THINKING, text("thinking", self._locale), metadata)]

    def _message(self, event: Event) -> list[Said]:
        """Its text is told unless it was already, piece by piece."""
        told = event.data["text"]
        seen = "".join(self._seen) if event.data["message_id"] == self._message_id else ""
        self._said, self._message_id, self._seen = told, None, []
        if not told or seen == told:
            return []
        return [_partial(event.data["message_id"], told, reset=bool(seen) or self._joined_late)]

    def _tool_started(self, event: Event) -> list[Said]:
        data = event.data
        metadata = {"tool": data["tool"], "args": data["input"], "status": "running", "call_id": data["call_id"]}
        return [Said(AgentEvents.TOOL_CALL, text("tool_call", self._locale, tool=data["tool"]), metadata)]

    def _tool_ended(self, event: Event) -> list[Said]:
        data = event.data
        return [_result(data, data["output"], failed=data["status"] != "success")]

    def _paused(self, event: Event) -> list[Said]:
        if not self._is_present:
            return []
        settled = event.data.get("settled", ())
        told = enumerate(event.data["requests"])
        self._wait_for(told_step(event.seq, place, one) for place, one in told if one["request_id"] not in settled)
        return self._ask()

    def _settled(self, event: Event) -> list[Said]:
        data, request_id = event.data, event.data["request_id"]
        step = self._pending.pop(request_id, None) or self._past.pop(request_id, None)
        self._asked.discard(request_id)
        said = self._expired(step) if data["status"] == RequestStatus.EXPIRED and step else []
        if data["kind"] == RequestKind.APPROVAL:
            said += self._not_approved(data, step)
        return said + (self._ask() if self._is_present else [])

    def _expired(self, step: Step) -> list[Said]:
        metadata = {"step_id": step.id, "timeout_seconds": step.seconds}
        error = {"error_type": ErrorTypes.CONFIRMATION_TIMEOUT, **metadata}
        return [
            Said(AgentEvents.TIMEOUT, text("timed_out", self._locale), metadata, step.id),
            Said(AgentEvents.ERROR, text("confirmation_timeout", self._locale), error, step.id),
        ]

    def _not_approved(self, data: Data, step: Step | None) -> list[Said]:
        """The tool never starts, so this is its result; of a tool that was approved its own start and end are told."""
        value: Data = data["value"] or {}
        decision = value.get("decision") if data["status"] == RequestStatus.ANSWERED else "reject"
        if decision in ("accept", "edit"):
            return []
        expired = data["status"] == RequestStatus.EXPIRED
        reason = text("timed_out", self._locale) if expired else value.get("message") or data.get("reason")
        content = reason or text("refused", self._locale)
        return [_result(data, content, failed=decision != "response", step_id=step.id if step else None)]

    def _run_ended(self, event: Event) -> list[Said]:
        data = event.data
        match data["status"]:
            case RunStatus.DONE:
                return [Said(AgentEvents.FINAL_ANSWER, self._said, {"run_id": data["run_id"]})]
            case RunStatus.STOPPED:
                return [Said(AgentEvents.INTERRUPTED, text("interrupted", self._locale), {"run_id": data["run_id"]})]
            case RunStatus.FAILED:
                return [_error(ErrorTypes.AGENT_FAILED, data["error"])]
            case RunStatus.NOT_ANSWERED:
                return [_error(ErrorTypes.NOT_ANSWERED, text("not_answered", self._locale))]
            case _:
                return []

    def _deleted(self, event: Event) -> list[Said]:
        metadata = {"reason": "deleted", "by": event.data["by"]}
        return [Said(AgentEvents.SESSION_END, text("session_end", self._locale), metadata)]


def _steps(opened_seq: int | None, requests: Iterable[Request]) -> list[Step]:
    return [] if opened_seq is None else [step_of(opened_seq, request) for request in requests]


def _partial(message_id: str, content: str, *, reset: bool) -> Said:
    """A piece of what the agent says; with `reset` all of it so far, in place of what was told before."""
    return Said(AgentEvents.PARTIAL_ANSWER, content, {"message_id": message_id, **({"reset": True} if reset else {})})


def _result(data: Data, content: str, *, failed: bool, step_id: str | None = None) -> Said:
    status = "failed" if failed else "success"
    error = content if failed else None
    metadata = {"tool": data["tool"], "status": status, "error": error, "call_id": data["call_id"]}
    return Said(AgentEvents.TOOL_RESULT, content, metadata, step_id)


def _error(error_type: ErrorTypes, content: str) -> Said:
    return Said(AgentEvents.ERROR, content, {"error_type": error_type})


_ENTRIES: Mapping[EventType, Callable[[Story, Event], list[Said]]] = {
    EventType.USER_MESSAGE: Story._turn,  # pyright: ignore[reportPrivateUsage]
    EventType.RUN_STARTED: Story._thinking,  # pyright: ignore[reportPrivateUsage]
    EventType.ASSISTANT_MESSAGE: Story._message,  # pyright: ignore[reportPrivateUsage]
    EventType.TOOL_STARTED: Story._tool_started,  # pyright: ignore[reportPrivateUsage]
    EventType.TOOL_ENDED: Story._tool_ended,  # pyright: ignore[reportPrivateUsage]
    EventType.PAUSE_OPENED: Story._paused,  # pyright: ignore[reportPrivateUsage]
    EventType.REQUEST_SETTLED: Story._settled,  # pyright: ignore[reportPrivateUsage]
    EventType.RUN_ENDED: Story._run_ended,  # pyright: ignore[reportPrivateUsage]
    EventType.THREAD_DELETED: Story._deleted,  # pyright: ignore[reportPrivateUsage]
}
