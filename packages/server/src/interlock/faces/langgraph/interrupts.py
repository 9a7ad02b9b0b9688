"""What is open, as interrupts: under ids of our own, which no other question ever has.

LangGraph takes a task's first id for its later questions, and a question that is asked again keeps its id. So an id on
the wire is made of the pause and the interrupt: it names one question at one time, and nothing is stored for it.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.domain.form import HitlAction, HumanInterrupt, SchemaInterrupt, Shape, StoppedGraph, ToolApproval
from interlock.domain.json_value import ABSENT, JsonObject, JsonValue, object_at
from interlock.domain.kinds import ApprovalBody, ClarificationBody, DecisionBody, EnvVarBody, QuestionsBody, RequestKind
from interlock.domain.request import Pause, Request, RequestStatus
from interlock.texts import Locale

DECISIONS = {"accept": "approve", "edit": "edit", "reject": "reject", "response": "respond"}
_CONFIG = {"accept": "allow_accept", "edit": "allow_edit", "response": "allow_respond", "reject": "allow_ignore"}
_ID = re.compile(r"[0-9a-f]{32}\Z")


def is_wire_id(text: str) -> bool:
    return _ID.match(text) is not None


def wire_id(pause_id: str, name: str) -> str:
    return hashlib.blake2b(f"{pause_id}\n{name}".encode(), digest_size=16, person=b"interlock-lg").hexdigest()


def shape_of(request: Request) -> Shape | None:
    return request.form.shape if request.form else None


def is_breakpoint(request: Request) -> bool:
    return isinstance(shape_of(request), StoppedGraph)


@dataclass(frozen=True, slots=True)
class Interrupt:
    """What one LangGraph interrupt asks: one request, or several."""

    id: str
    source: str | None
    """LangGraph's own id; None where the server asks."""
    requests: tuple[Request, ...]
    """Those that are settled by now included."""

    @property
    def pending_requests(self) -> list[Request]:
        return [one for one in self.requests if one.status is RequestStatus.PENDING]

    @property
    def settled_requests(self) -> list[Request]:
        return [one for one in self.requests if one.settled_at is not None]

    def view(self, locale: Locale) -> JsonObject:
        shape = shape_of(self.requests[0])
        schema = {"response_schema": shape.schema} if isinstance(shape, SchemaInterrupt | ToolApproval) else {}
        return {"id": self.id, "value": _value(self.pending_requests or self.requests, locale), **schema}


def interrupts_of(pause: Pause, requests: Sequence[Request]) -> list[Interrupt]:
    """In the order in which they were asked; a breakpoint is none."""
    grouped: dict[str, list[Request]] = {}
    for request in requests:
        if not is_breakpoint(request):
            grouped.setdefault(request.interrupt_id or request.id, []).append(request)
    return [Interrupt(wire_id(pause.id, key), each[0].interrupt_id, tuple(each)) for key, each in grouped.items()]


def open_interrupts(pause: Pause | None, requests: Sequence[Request]) -> list[Interrupt]:
    return [one for one in interrupts_of(pause, requests) if one.pending_requests] if pause else []


def view_of(pause: Pause, requests: Sequence[Request]) -> str:
    """What was shown of a pause: what is left of it is another view than the whole."""
    settled = sum(one.status is not RequestStatus.PENDING for one in requests)
    return f"{pause.id}/{settled}" if settled else pause.id


def _value(requests: Sequence[Request], locale: Locale) -> JsonValue:
    shape = shape_of(requests[0])
    bodies = [one.body.in_language(locale) for one in requests]
    match shape:
        case HitlAction():
            return _hitl(bodies)
        case ToolApproval():
            return _tool_approval(requests[0], bodies[0])
        case HumanInterrupt(listed=True):
            return [_human(one) for one in requests]
        case HumanInterrupt():
            return _human(requests[0])
        case _:
            return ROWS[bodies[0].kind](bodies[0])


def _hitl(bodies: Sequence[Any]) -> JsonObject:
    """Clients read the arguments by one name or the other: Agent Inbox by the second only."""
    actions = [
        {
            "name": one.tool_name,
            "args": one.args,
            "arguments": one.args,
            "description": one.with_details(one.description),
        }
        for one in bodies
    ]
    configs = [
        {"action_name": one.tool_name, "allowed_decisions": [DECISIONS[name] for name in DECISIONS if one.takes(name)]}
        for one in bodies
    ]
    return {"action_requests": actions, "review_configs": configs}


def _tool_approval(request: Request, body: Any) -> JsonObject:
    return {
        "type": "tool_approval",
        "tool_call_id": request.call_id,
        "name": body.tool_name,
        "args": body.args,
        "description": body.with_details(body.description),
    }


def _human(request: Request) -> JsonObject:
    shape, body = shape_of(request), request.body
    assert isinstance(shape, HumanInterrupt)
    config = {_CONFIG[name]: name in shape.allowed for name in _CONFIG}
    if isinstance(body, ApprovalBody):
        action: JsonObject = {"action": body.tool_name, "args": body.args}
        return {"action_request": action, "config": config, "description": body.with_details(body.description)}
    question = object_at(body.value if isinstance(body, ClarificationBody) else None)
    description = question.get("description") or body.headline
    return {"action_request": object_at(question, "action_request"), "config": config, "description": description}


def _inbox_question(kind: str, description: str, args: Mapping[str, Any]) -> list[JsonObject]:
    """A question of Interlock's own, in the form that Agent Inbox shows and answers."""
    config = {"allow_respond": True, "allow_ignore": True, "allow_edit": False, "allow_accept": False}
    return [{"action_request": {"action": kind, "args": dict(args)}, "config": config, "description": description}]


def _clarification(body: ClarificationBody) -> JsonValue:
    if body.value is not ABSENT:
        return body.value
    args = {"question": body.question, "options": list(body.options)}
    return _inbox_question(body.kind, body.with_details(body.question), args)


def _questions(body: QuestionsBody) -> JsonValue:
    if body.value is not ABSENT:
        return body.value
    return _inbox_question(
        body.kind, body.with_details(body.headline), {"questions": body.own_json().get("questions", [])}
    )


def _decision(body: DecisionBody) -> JsonValue:
    return _inbox_question(body.kind, body.with_details(body.headline), body.own_json())


def _env_var(body: EnvVarBody) -> JsonValue:
    return _inbox_question(body.kind, body.with_details(body.headline), body.own_json())


ROWS: Mapping[RequestKind, Callable[[Any], JsonValue]] = {
    RequestKind.APPROVAL: lambda body: _hitl([body]),
    RequestKind.CLARIFICATION: _clarification,
    RequestKind.DECISION: _decision,
    RequestKind.ENV_VAR: _env_var,
    RequestKind.QUESTIONS: _questions,
}
