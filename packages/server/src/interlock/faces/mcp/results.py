"""What a call is told: the state of its request, as structured content and in one sentence."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from interlock.domain.canonical import json_text
from interlock.domain.errors import AlreadySettled, InterlockError
from interlock.domain.kinds import (
    ApprovalAnswer,
    ApprovalBody,
    ClarificationAnswer,
    DecisionAnswer,
    EnvVarAnswer,
    EnvVarBody,
    QuestionsAnswer,
    RequestKind,
)
from interlock.domain.moment import to_iso
from interlock.domain.request import AnswerOrigin, Request, RequestEnd, RequestStatus
from interlock.faces.http.problems import details_of, public_message
from interlock.services.requests.pending import RequestView

NOT_A_YES = "Do not go on as if it were a yes."


class Outcome(BaseModel):
    """How the request stands. Only `answered` with `approved: true` is a permission."""

    request_id: str
    status: Literal["pending", "answered", "cancelled", "expired"]
    answer: Any = Field(
        default=None,
        description=(
            "What the person said: a text, the key of an option, or a list of texts. Of a secret: its names, and a "
            "handle by which a program with this key collects the values."
        ),
    )
    approved: bool | None = Field(default=None, description="Of an approval: whether the action may be done.")
    args: dict[str, Any] | None = Field(
        default=None,
        description="Of an approval that was given: the arguments to use. The person may have changed them.",
    )
    reason: str | None = None
    answered_by: str | None = None
    answered_at: str | None = None
    source: str | None = Field(
        default=None, description="Where the answer came from; `default`: nobody answered, and your default stands in."
    )
    expires_at: str | None = Field(default=None, description="When it ends without an answer.")
    page: str | None = Field(default=None, description="Of a secret: where a person who is signed in gives it.")
    message: str = Field(default="", description="The same in one sentence.")


def outcome_of(view: RequestView, pages: str = "") -> Outcome:
    """`pages` is where the server is found by those who asked."""
    request, answer = view.request, view.answer
    end = RequestEnd.of(request, answer)
    by_default = answer is not None and answer.origin is AnswerOrigin.DEFAULT
    outcome = Outcome(
        request_id=request.id,
        status=request.status.value,
        reason=end.reason,
        answered_by=None if by_default else end.by,
        answered_at=to_iso(end.at) if end.at else None,
        source="default" if by_default else end.source,
        expires_at=to_iso(request.deadline) if request.deadline else None,
        page=page_of(request, pages),
    )
    fields = ANSWERS[request.kind](request, answer.value) if answer else {}
    if isinstance(request.body, ApprovalBody) and request.status is not RequestStatus.PENDING:
        fields = {"approved": False, **fields}
    return outcome.model_copy(update=fields)


def page_of(request: Request, pages: str) -> str | None:
    """Where a person gives a secret that is still wanted."""
    is_wanted = isinstance(request.body, EnvVarBody) and request.status is RequestStatus.PENDING
    return f"{pages}/give/{request.id}" if pages and is_wanted else None


def _approval(request: Request, value: ApprovalAnswer) -> dict[str, Any]:
    # Only an answered request is a yes, whatever its answer says.
    approved = value.runs and request.status is RequestStatus.ANSWERED
    fields: dict[str, Any] = {"approved": approved, "reason": value.message or None}
    if value.decision == "response":
        fields["answer"] = value.message
    if approved and isinstance(request.body, ApprovalBody):
        fields["args"] = request.body.args if value.args is None else value.args
    return fields


def _clarification(_: Request, value: ClarificationAnswer) -> dict[str, Any]:
    return {"answer": value.answer}


def _decision(_: Request, value: DecisionAnswer) -> dict[str, Any]:
    return {"answer": value.decision, "reason": value.reason or None}


def _questions(_: Request, value: QuestionsAnswer) -> dict[str, Any]:
    return {"answer": list(value.answers)}


def _variables(request: Request, value: EnvVarAnswer) -> dict[str, Any]:
    # Names only: a model's context is no place for a value.
    return {"answer": {"names": sorted(value.readable().values), "handle": request.id}}


ANSWERS: Mapping[RequestKind, Callable[[Request, Any], dict[str, Any]]] = {
    RequestKind.APPROVAL: _approval,
    RequestKind.CLARIFICATION: _clarification,
    RequestKind.DECISION: _decision,
    RequestKind.QUESTIONS: _questions,
    RequestKind.ENV_VAR: _variables,
}
"""By kind, the fields of the outcome that an answer fills."""


def result_of(view: RequestView, pages: str = "") -> CallToolResult:
    outcome = outcome_of(view, pages)
    sentence = sentence_of(outcome)
    # In both: some hosts show their model the one, some the other.
    outcome = outcome.model_copy(update={"message": sentence})
    structured = whole(json_text(outcome.model_dump(exclude_none=True), ensure_ascii=False))
    return CallToolResult(content=[text_block(sentence)], structured_content=json.loads(structured))


def whole(text: str) -> str:
    """Without halves of characters, which are JSON and cannot be sent."""
    return text.encode("utf-8", "replace").decode()


def text_block(text: str) -> TextContent:
    return TextContent(text=whole(text))


def sentence_of(outcome: Outcome) -> str:
    match outcome.status:
        case "pending":
            page = f"A person gives it at {outcome.page}: show them this address. " if outcome.page else ""
            return f"Nobody has answered yet. {page}Call wait with request_id {outcome.request_id}. {NOT_A_YES}"
        case "expired" if outcome.source == "default":
            return f"Nobody answered in time. The default that you named stands in: {_text(outcome.answer)}."
        case "expired":
            return f"Nobody answered in time. {NOT_A_YES}"
        case "cancelled":
            return f"It was cancelled{_because(outcome)}. {NOT_A_YES}"
        case "answered":
            return _describe_answer(outcome)


def _describe_answer(outcome: Outcome) -> str:
    by = outcome.answered_by or "A person"
    if outcome.approved is None:
        return f"{by} answered: {_text(outcome.answer)}{_because(outcome)}"
    if outcome.approved:
        return f"{by} approved it. Use exactly these arguments: {_text(outcome.args)}"
    if outcome.answer is not None:
        return f"{by} did not approve it, and says: {_text(outcome.answer)}"
    return f"{by} refused it{_because(outcome)}. Do not do it."


def _because(outcome: Outcome) -> str:
    return f" ({outcome.reason})" if outcome.reason else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value, ensure_ascii=False)


def refusal(error: InterlockError) -> CallToolResult:
    """An error of the call itself: nothing was decided by it."""
    details = details_of(error)
    lines = [f"{error.code}: {public_message(error)}"]
    lines += [f"- {one['field']}: {one['message']}" for one in details.get("errors", ())]
    if isinstance(error, AlreadySettled):
        lines.append(json_text(details, ensure_ascii=False))
    meta = {"interlock/code": error.code, **({"interlock/details": details} if details else {})}
    return CallToolResult(content=[text_block("\n".join([*lines, NOT_A_YES]))], is_error=True, _meta=meta)
