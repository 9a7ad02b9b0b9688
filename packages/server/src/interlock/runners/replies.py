"""From the answers of people to the value that resumes an interrupt: the way back from `interrupts`.

A refusal, an expiry or a cancel for which the graph offers no answer gives `NO_REPLY`: then nothing is sent to it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from interlock.domain.canonical import action_digest
from interlock.domain.effect import EffectKey
from interlock.domain.errors import InvalidAnswer
from interlock.domain.form import (
    EffectInDoubt,
    FreeInterrupt,
    HitlAction,
    HumanInterrupt,
    OwnAsk,
    SchemaInterrupt,
    Shape,
    StoppedGraph,
    ToolApproval,
    UnknownShape,
)
from interlock.domain.kinds import (
    ApprovalAnswer,
    ApprovalBody,
    ClarificationAnswer,
    DecisionAnswer,
    QuestionsAnswer,
    Value,
)
from interlock.domain.kinds.fields import is_blank
from interlock.domain.kinds.free_answers import parse_typed
from interlock.domain.request import Answer, Request, RequestStatus
from interlock.ports.journal import Refusal
from interlock.runners import schemas


class _NoReply:
    def __repr__(self) -> str:
        return "NO_REPLY"


NO_REPLY: Final = _NoReply()


def resume_value(requests: Sequence[Request], answers: Mapping[str, Answer]) -> Any:
    """What to send for one interrupt, whose requests these are, in their order."""
    parts: list[Any] = []
    for request in requests:
        answer = answers.get(request.id)
        part = _reply(request, answer.value if answer else None)
        if part is NO_REPLY:
            return NO_REPLY
        parts.append(part)
    match _shape(requests[0]):
        case HitlAction():
            return {"decisions": parts}
        case HumanInterrupt(listed=True):
            return parts
        case _:
            return parts[0]


def check(request: Request, value: Value) -> None:
    """Raise `InvalidAnswer` when the graph would refuse this answer; called before the answer is accepted."""
    _reply(request, value)


def _shape(request: Request) -> Shape:
    return request.form.shape if request.form else UnknownShape()


def _reply(request: Request, value: Value | None) -> Any:
    match _shape(request):
        case OwnAsk():
            return _ask(request, value)
        case HitlAction() as action:
            return _langchain_decision(request, action, value)
        case ToolApproval() as action:
            return _tool_approval(request, action, value)
        case HumanInterrupt() as action:
            return _human(request, action, value)
        case SchemaInterrupt(schema):
            return _typed_answer(schema, value)
        case FreeInterrupt():
            return _free(value)
        case EffectInDoubt() as effect:
            return given_result(effect, value)
        case StoppedGraph():
            # As with an effect, the graph is not told: the runner acts on it itself.
            return value
        case UnknownShape():
            raise InvalidAnswer("a newer version of the server asked this, and only such a one can take the answer")


def approved_digest(request: Request, value: Value) -> str | None:
    """The digest of what may run after this answer to an approval: what was shown, or the person's edit."""
    if not isinstance(request.body, ApprovalBody) or not isinstance(value, ApprovalAnswer) or not value.runs:
        return None
    # Of what was shown, and not as it was written then: older versions spelled NaN otherwise.
    return action_digest(request.tool, request.body.args if value.args is None else value.args)


def refusal(request: Request, value: Value | None) -> Refusal | None:
    """What is said in place of a call that may not run after this answer to its approval, or without one."""
    if not isinstance(request.body, ApprovalBody):
        return None
    decided = _approval_answer(request, value)
    return None if decided.runs else Refusal(decided.message, is_answer=decided.decision == "response")


def given_result(effect: EffectInDoubt, value: Value | None) -> Any:
    """What an effect gave that took effect, by the word of a person: plain code takes JSON, a tool call has a text."""
    if not isinstance(value, DecisionAnswer) or value.decision != "done":
        return None
    if EffectKey("", effect.task_id, effect.call_id).is_tool_call:
        return value.reason or "done"
    return None if is_blank(value.reason) else parse_typed(value.reason, "reason")


def _ask(request: Request, value: Value | None) -> Any:
    reason = "" if request.status is RequestStatus.ANSWERED else _why_unanswered(request)
    sent = value.to_json() if value is not None else None
    if sent is not None and isinstance(request.body, ApprovalBody):
        sent["shown"] = request.body.args
    return {"status": request.status.value, "value": sent, "reason": reason}


def _why_unanswered(request: Request) -> str:
    if request.status is RequestStatus.EXPIRED:
        return "nobody answered before the deadline"
    ending = request.ending
    by = f"cancelled by {ending.by}" if ending else "the request was cancelled"
    return f"{by}: {ending.reason}" if ending and ending.reason else by


def _approval_answer(request: Request, value: Value | None) -> ApprovalAnswer:
    """Where nobody answered, that it is not to be run."""
    if isinstance(value, ApprovalAnswer):
        return value
    return ApprovalAnswer("reject", message=f"{_why_unanswered(request)}; it was not run")


def _langchain_decision(request: Request, action: HitlAction | ToolApproval, value: Value | None) -> Any:
    answer = _approval_answer(request, value)
    if answer.decision not in action.allowed:
        return NO_REPLY
    match answer.decision:
        case "accept":
            return {"type": "approve"}
        case "edit":
            return {"type": "edit", "edited_action": {"name": action.name, "args": answer.args}}
        case "response":
            return {"type": "respond", "message": answer.message}
        case "reject":
            return {"type": "reject", **({"message": answer.message} if answer.message else {})}


def _tool_approval(request: Request, action: ToolApproval, value: Value | None) -> Any:
    decision = _langchain_decision(request, action, value)
    if decision is not NO_REPLY and action.schema:
        schemas.check(action.schema, decision)
    return decision


def _human(request: Request, action: HumanInterrupt, value: Value | None) -> Any:
    if isinstance(value, ClarificationAnswer):
        return {"type": "response", "args": value.answer}
    answer = _approval_answer(request, value)
    if answer.decision not in action.allowed:
        return NO_REPLY
    match answer.decision:
        case "edit":
            return {"type": "edit", "args": {"action": action.name, "args": answer.args}}
        case "response":
            return {"type": "response", "args": answer.message}
        case "accept":
            return {"type": "accept", "args": None}
        case "reject":
            return {"type": "ignore", "args": None}


def _typed_answer(schema: schemas.Schema, value: Value | None) -> Any:
    return schemas.typed_answer(schema, value) if isinstance(value, QuestionsAnswer | ClarificationAnswer) else NO_REPLY


def _free(value: Value | None) -> Any:
    return value.answer if isinstance(value, ClarificationAnswer) else NO_REPLY
