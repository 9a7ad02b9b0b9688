"""From the answers of people to the value that resumes an interrupt: the way back from `interrupts`.

A refusal, an expiry or a cancel for which the graph offers no answer gives `UNTOLD`: then nothing is sent to it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from interlock.domain.canonical import action_digest
from interlock.domain.request import Answer, Request, RequestKind, RequestStatus
from interlock.runners import schemas


class _Untold:
    def __repr__(self) -> str:
        return "UNTOLD"


UNTOLD: Final = _Untold()

Value = Mapping[str, Any] | None


def resume_value(requests: Sequence[Request], answers: Mapping[str, Answer]) -> Any:
    """What to send for one interrupt, whose requests these are, in their order."""
    parts: list[Any] = []
    for request in requests:
        answer = answers.get(request.id)
        part = _SHAPES[request.form["shape"]](request, answer.value if answer else None)
        if part is UNTOLD:
            return UNTOLD
        parts.append(part)
    shape = requests[0].form["shape"]
    if shape == "hitl":
        return {"decisions": parts}
    if shape == "human" and requests[0].form["listed"]:
        return parts
    return parts[0]


def check(request: Request, value: Mapping[str, Any]) -> None:
    """Raise `InvalidAnswer` when the graph would refuse this answer; called before the answer is accepted."""
    _SHAPES[request.form["shape"]](request, value)


def approved_digest(request: Request, value: Mapping[str, Any]) -> str | None:
    """The digest of what may run after this answer to an approval: what was shown, or the person's edit."""
    match value.get("decision"):
        case "edit":
            return action_digest(request.body["tool_name"], value["args"])
        case "accept":
            # Of what was shown, and not as it was written then: older versions spelled NaN otherwise.
            return action_digest(request.body["tool_name"], request.body["args"])
        case _:
            return None


def _ask(request: Request, value: Value) -> Any:
    reason = "" if request.status is RequestStatus.ANSWERED else _why_unanswered(request)
    if value is not None and request.kind is RequestKind.APPROVAL:
        value = {**value, "shown": request.body["args"]}
    return {"status": request.status.value, "value": value, "reason": reason}


def _why_unanswered(request: Request) -> str:
    if request.status is RequestStatus.EXPIRED:
        return "nobody answered before the deadline"
    ending = request.ending
    by = f"cancelled by {ending.by}" if ending else "the request was cancelled"
    return f"{by}: {ending.reason}" if ending and ending.reason else by


def _langchain_decision(request: Request, value: Value) -> Any:
    decision = value["decision"] if value else "reject"
    if decision not in request.form["allowed"]:
        return UNTOLD
    message = value.get("message") if value else f"{_why_unanswered(request)}; it was not run"
    match decision:
        case "accept":
            return {"type": "approve"}
        case "edit":
            return {"type": "edit", "edited_action": {"name": request.form["name"], "args": (value or {})["args"]}}
        case "response":
            return {"type": "respond", "message": message}
        case _:
            return {"type": "reject", **({"message": message} if message else {})}


def _tool_approval(request: Request, value: Value) -> Any:
    decision = _langchain_decision(request, value)
    if decision is not UNTOLD and request.form["schema"]:
        schemas.check(request.form["schema"], decision)
    return decision


def _human(request: Request, value: Value) -> Any:
    if request.kind is RequestKind.CLARIFICATION and value is not None:
        return {"type": "response", "args": value["answer"]}
    decision = value["decision"] if value else "reject"
    if decision not in request.form["allowed"]:
        return UNTOLD
    match decision:
        case "edit":
            return {"type": "edit", "args": {"action": request.form["name"], "args": (value or {})["args"]}}
        case "response":
            return {"type": "response", "args": (value or {})["message"]}
        case "accept":
            return {"type": "accept", "args": None}
        case _:
            return {"type": "ignore", "args": None}


def _schema(request: Request, value: Value) -> Any:
    return UNTOLD if value is None else schemas.composed(request.kind, request.form["schema"], value)


def _free(request: Request, value: Value) -> Any:
    return UNTOLD if value is None else value["answer"]


_SHAPES: Mapping[str, Callable[[Request, Value], Any]] = {
    "ask": _ask,
    "hitl": _langchain_decision,
    "tool_approval": _tool_approval,
    "human": _human,
    "schema": _schema,
    "free": _free,
    # These two never reach the graph as a value: the runner acts on them itself.
    "effect": lambda _request, value: value,
    "breakpoint": lambda _request, value: value,
}
