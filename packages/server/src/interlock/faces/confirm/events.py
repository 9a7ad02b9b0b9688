"""From a session's log to the events of this face."""

from collections.abc import Iterable
from dataclasses import dataclass, field
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
    RunStarted,
    SettledCall,
    ThreadDeleted,
    Token,
    ToolEnded,
    ToolStarted,
    UserMessage,
)
from interlock.domain.kinds import ApprovalBody
from interlock.domain.moment import to_iso
from interlock.domain.request import Request, RequestStatus
from interlock.domain.run import RunStatus
from interlock.faces.confirm.kinds import description_of, question
from interlock.faces.confirm.steps import Step, public_step, step_of
from interlock.services.requests.pending import OpenRequests
from interlock.texts import Locale
from interlock.texts import confirm_text as text
from interlock_client.confirm import AgentEvents, ErrorTypes

_OF_APPROVAL = ("tool_display_name", "risk_level", "allowed", "details")


@dataclass(frozen=True, slots=True)
class OutgoingEvent:
    """One event as a client is told it, but for what is the same for all of a connection."""

    event: str
    content: Any
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    step_id: str | None = None


class SessionTranslator:
    """What one client is told of one session, from a place in its log on.

    Up to where the log had come when the client came, nobody is asked anything: what was settled meanwhile is not to be
    asked again. From there on the first `batch_size` confirmations that are pending are asked for, and each further one
    when its turn comes.
    """

    def __init__(
        self, locale: Locale, batch_size: int, open_requests: OpenRequests, *, joined_late: bool, last_text: str
    ) -> None:
        self._locale: Locale = locale
        self._batch_size = batch_size
        self._present = open_requests.seq
        self._is_present = False
        self._joined_late = joined_late
        self._pending: dict[str, Step] = {}
        self._asked: set[str] = set()
        self._past: dict[str, Step] = {}
        self._message_id: str | None = None
        self._seen: list[str] = []
        self._last_text = last_text
        for pause, requests in open_requests.open:
            self._wait_for(_steps(pause.opened_seq, requests))

    def pause_to_learn(self, item: Live) -> str | None:
        """The pause of which this entry tells the end, where its beginning was told to nobody here: see `learn`."""
        if not isinstance(item, Event) or not isinstance(item.data, RequestSettled):
            return None
        request_id = item.data.request_id
        return None if request_id in self._pending or request_id in self._past else item.data.pause_id

    def learn(self, opened_seq: int | None, requests: Iterable[Request]) -> None:
        self._past |= {step.request.request_id: step for step in _steps(opened_seq, requests)}

    def begin(self, after: int) -> list[OutgoingEvent]:
        """What is to be told before anything else: what is pending, for who has missed nothing."""
        return self._arrive() if after >= self._present else []

    def of(self, item: Live) -> list[OutgoingEvent]:
        if not isinstance(item, Event):
            return [self._token(item)]
        events = self._arrive() if item.seq > self._present else []
        events += self._entry(item.seq, item.data)
        return events + (self._arrive() if item.seq == self._present else [])

    def _arrive(self) -> list[OutgoingEvent]:
        if self._is_present:
            return []
        self._is_present = True
        return self._ask()

    def _wait_for(self, steps: Iterable[Step]) -> None:
        self._pending |= {step.request.request_id: step for step in steps}

    def _ask(self) -> list[OutgoingEvent]:
        turn = [*self._pending.items()][: self._batch_size]
        due = [step for request_id, step in turn if request_id not in self._asked]
        self._asked |= {request_id for request_id, _ in turn}
        return [self._confirm(step) for step in due]

    def _confirm(self, step: Step) -> OutgoingEvent:
        body = step.body.in_language(self._locale)
        fields = body.to_json()
        is_approval = isinstance(body, ApprovalBody)
        more = {name: fields[name] for name in _OF_APPROVAL if name in fields} if is_approval else {"request": fields}
        metadata = {
            "tool_name": step.tool,
            "tool_description": description_of(body, self._locale),
            "tool_args": body.args if is_approval else fields,
            "requires_confirmation": True,
            "kind": body.kind,
            "request_id": step.request.request_id,
            "pause_id": step.request.pause_id,
            "timeout_seconds": step.seconds,
            "expires_at": to_iso(step.request.expires_at) if step.request.expires_at else None,
            **more,
        }
        return OutgoingEvent(AgentEvents.USER_CONFIRM, question(body, self._locale), metadata, step.id)

    def _entry(self, seq: int, data: EventData) -> list[OutgoingEvent]:
        match data:
            case UserMessage():
                self._last_text = ""
                return []
            case RunStarted(run_id, cause):
                metadata = {"run_id": run_id, "cause": cause}
                return [OutgoingEvent(AgentEvents.THINKING, text("thinking", self._locale), metadata)]
            case AssistantMessage():
                return self._message(data)
            case ToolStarted(call_id, tool, given):
                metadata = {"tool": tool, "args": given, "status": "running", "call_id": call_id}
                return [OutgoingEvent(AgentEvents.TOOL_CALL, text("tool_call", self._locale, tool=tool), metadata)]
            case ToolEnded(call_id, tool, output, status):
                return [_result(tool, call_id, output, failed=status != "success")]
            case PauseOpened():
                return self._open_pause(seq, data)
            case RequestSettled():
                return self._settle(data)
            case RunEnded():
                return self._run_ended(data)
            case ThreadDeleted(by):
                metadata = {"reason": "deleted", "by": by}
                return [OutgoingEvent(AgentEvents.SESSION_END, text("session_end", self._locale), metadata)]
            case _:
                return []

    def _token(self, item: Token | Partial) -> OutgoingEvent:
        is_whole = isinstance(item, Partial)
        if is_whole or item.message_id != self._message_id:
            self._seen = []
        self._message_id = item.message_id
        self._seen.append(item.text)
        return _partial(item.message_id, item.text, reset=is_whole)

    def _message(self, message: AssistantMessage) -> list[OutgoingEvent]:
        """Its text is told unless it was already, piece by piece."""
        seen = "".join(self._seen) if message.message_id == self._message_id else ""
        self._last_text, self._message_id, self._seen = message.text, None, []
        if not message.text or seen == message.text:
            return []
        return [_partial(message.message_id, message.text, reset=bool(seen) or self._joined_late)]

    def _open_pause(self, seq: int, pause: PauseOpened) -> list[OutgoingEvent]:
        if not self._is_present:
            return []
        requests = enumerate(pause.requests)
        self._wait_for(public_step(seq, place, one) for place, one in requests if one.request_id not in pause.settled)
        return self._ask()

    def _settle(self, settled: RequestSettled) -> list[OutgoingEvent]:
        step = self._pending.pop(settled.request_id, None) or self._past.pop(settled.request_id, None)
        self._asked.discard(settled.request_id)
        events = self._timeout(step) if settled.status is RequestStatus.EXPIRED and step else []
        if settled.call is not None and not settled.runs:
            events.append(self._not_approved(settled, settled.call, step))
        return events + (self._ask() if self._is_present else [])

    def _timeout(self, step: Step) -> list[OutgoingEvent]:
        metadata = {"step_id": step.id, "timeout_seconds": step.seconds}
        error = {"error_type": ErrorTypes.CONFIRMATION_TIMEOUT, **metadata}
        return [
            OutgoingEvent(AgentEvents.TIMEOUT, text("timed_out", self._locale), metadata, step.id),
            OutgoingEvent(AgentEvents.ERROR, text("confirmation_timeout", self._locale), error, step.id),
        ]

    def _not_approved(self, settled: RequestSettled, call: SettledCall, step: Step | None) -> OutgoingEvent:
        """The tool never starts, so this is its result; of a tool that was approved its own start and end are told."""
        is_expired = settled.status is RequestStatus.EXPIRED
        reason = text("timed_out", self._locale) if is_expired else settled.message
        content = reason or text("refused", self._locale)
        step_id = step.id if step else None
        return _result(call.tool, call.call_id, content, failed=not settled.is_reply, step_id=step_id)

    def _run_ended(self, ended: RunEnded) -> list[OutgoingEvent]:
        match ended.status:
            case RunStatus.DONE:
                return [OutgoingEvent(AgentEvents.FINAL_ANSWER, self._last_text, {"run_id": ended.run_id})]
            case RunStatus.STOPPED:
                return [
                    OutgoingEvent(AgentEvents.INTERRUPTED, text("interrupted", self._locale), {"run_id": ended.run_id})
                ]
            case RunStatus.FAILED:
                return [_error(ErrorTypes.AGENT_FAILED, ended.error or "")]
            case RunStatus.NOT_ANSWERED:
                return [_error(ErrorTypes.NOT_ANSWERED, text("not_answered", self._locale))]
            case _:
                return []


def _steps(opened_seq: int | None, requests: Iterable[Request]) -> list[Step]:
    return [] if opened_seq is None else [step_of(opened_seq, request) for request in requests]


def _partial(message_id: str, content: str, *, reset: bool) -> OutgoingEvent:
    """A piece of what the agent says; with `reset` all of it so far, in place of what was told before."""
    return OutgoingEvent(
        AgentEvents.PARTIAL_ANSWER, content, {"message_id": message_id, **({"reset": True} if reset else {})}
    )


def _result(tool: str, call_id: str | None, content: str, *, failed: bool, step_id: str | None = None) -> OutgoingEvent:
    status = "failed" if failed else "success"
    error = content if failed else None
    metadata = {"tool": tool, "status": status, "error": error, "call_id": call_id}
    return OutgoingEvent(AgentEvents.TOOL_RESULT, content, metadata, step_id)


def _error(error_type: ErrorTypes, content: str) -> OutgoingEvent:
    return OutgoingEvent(AgentEvents.ERROR, content, {"error_type": error_type})
