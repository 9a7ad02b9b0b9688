"""The kinds of request on this face: one row each: reason and schema of an interrupt, and how a payload is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from interlock.domain.errors import FieldError, InvalidAnswer
from interlock.domain.kinds import (
    ApprovalBody,
    Body,
    ClarificationBody,
    DecisionBody,
    EnvVarBody,
    QuestionsBody,
    RequestKind,
)
from interlock.domain.request import Request
from interlock.faces.shared.responses import reply_to
from interlock.services.requests.answering import Reply

Schema = dict[str, Any]
Payload = Mapping[str, Any]

YES_NO = {True: "yes", False: "no"}

B = TypeVar("B", bound=Body)


@dataclass(frozen=True, slots=True)
class Row(Generic[B]):
    reason: str
    schema: Callable[[B], Schema]
    """What a payload looks like."""
    response: Callable[[B, Any], Payload]
    """From a payload to a response as `faces.shared.responses` reads it."""


def reply_of(request: Request, payload: Any) -> Reply:
    """A payload of somebody who answers, in the core's words; `InvalidAnswer` where it is of another form."""
    return reply_to(request, ROWS[request.kind].response(request.body, payload))


def _wrong(field: str, code: str, message: str) -> InvalidAnswer:
    return InvalidAnswer(message, [FieldError(field, code, message)])


def _object(payload: Any) -> dict[str, Any]:
    if not isinstance(payload, dict):
        raise _wrong("payload", "not_an_object", "payload must be an object, as responseSchema says")
    return cast("dict[str, Any]", payload)


def _approval_schema(body: ApprovalBody) -> Schema:
    properties: Schema = {"approved": {"type": "boolean"}, "reason": {"type": "string"}}
    if body.takes("edit"):
        properties["editedArgs"] = {"type": "object", "description": "All arguments, in place of those proposed."}
    if body.takes("response"):
        properties["reply"] = {"type": "string", "description": "With approved: false, the tool's result."}
    return _schema(properties, "approved")


def _approval(_body: ApprovalBody, payload: Any) -> Payload:
    given = _object(payload)
    if not isinstance(given.get("approved"), bool):
        raise _wrong("payload.approved", "not_a_boolean", "payload.approved must be true or false")
    names = {"approved": "granted", "editedArgs": "args"}
    return {names.get(name, name): value for name, value in given.items()}


def _clarification_schema(body: ClarificationBody) -> Schema:
    if body.free:
        return _schema({"answer": {"description": "Any JSON."}}, "answer")
    options: Schema = {} if body.allow_custom else {"enum": list(body.options)}
    return _schema({"answer": {"type": "string", **options}}, "answer")


def _decision_schema(body: DecisionBody) -> Schema:
    keys = {"type": "string", "enum": [option.key for option in body.options]}
    return _schema({"decision": keys, "reason": {"type": "string"}}, "decision")


def _decision(body: DecisionBody, payload: Any) -> Payload:
    if isinstance(payload, bool) and {option.key for option in body.options} == set(YES_NO.values()):
        return {"decision": YES_NO[payload]}
    return _object(payload)


def _questions_schema(body: QuestionsBody) -> Schema:
    count = len(body.questions)
    return _schema({"answers": _texts(count)}, "answers")


def _texts(count: int) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "minItems": count, "maxItems": count}


def _values(_body: EnvVarBody, _payload: Any) -> Payload:
    # A payload passes through the servers and logs of the application in front.
    message = "values are given on the page that metadata.interlock.url names, not in a payload"
    raise _wrong("payload", "not_allowed", message)


def _schema(properties: Schema, *required: str) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


ROWS: Mapping[RequestKind, Row[Any]] = {
    RequestKind.APPROVAL: Row("tool_call", _approval_schema, _approval),
    RequestKind.CLARIFICATION: Row("input_required", _clarification_schema, lambda _, payload: _object(payload)),
    RequestKind.DECISION: Row("confirmation", _decision_schema, _decision),
    RequestKind.QUESTIONS: Row("input_required", _questions_schema, lambda _, payload: _object(payload)),
    RequestKind.ENV_VAR: Row("interlock:secret", lambda _: {}, _values),
}
