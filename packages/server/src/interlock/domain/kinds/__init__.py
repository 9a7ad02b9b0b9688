"""The kinds of request: one file each, with its body, its answer and everything that only this kind knows.

A further kind is a file here, a member of `RequestKind`, an entry in the two unions below, and a row in each face.
"""

from collections.abc import Mapping
from dataclasses import replace

from interlock.domain.errors import InvalidInput
from interlock.domain.json_value import JsonValue
from interlock.domain.kinds.approval import ApprovalAnswer, ApprovalBody
from interlock.domain.kinds.clarification import ClarificationAnswer, ClarificationBody
from interlock.domain.kinds.decision import DecisionAnswer, DecisionBody
from interlock.domain.kinds.env_var import EnvVarAnswer, EnvVarBody
from interlock.domain.kinds.fields import Fields
from interlock.domain.kinds.kind import RequestKind
from interlock.domain.kinds.questions import QuestionsAnswer, QuestionsBody

__all__ = [
    "BODIES",
    "VALUES",
    "ApprovalAnswer",
    "ApprovalBody",
    "Body",
    "ClarificationAnswer",
    "ClarificationBody",
    "DecisionAnswer",
    "DecisionBody",
    "EnvVarAnswer",
    "EnvVarBody",
    "QuestionsAnswer",
    "QuestionsBody",
    "RequestKind",
    "Value",
    "body_from_json",
    "read_ask",
    "value_from_json",
]

Body = ApprovalBody | ClarificationBody | DecisionBody | EnvVarBody | QuestionsBody
Value = ApprovalAnswer | ClarificationAnswer | DecisionAnswer | EnvVarAnswer | QuestionsAnswer

BODIES: Mapping[RequestKind, type[Body]] = {
    body.kind: body for body in (ApprovalBody, ClarificationBody, DecisionBody, EnvVarBody, QuestionsBody)
}
VALUES: Mapping[RequestKind, type[Value]] = {
    value.kind: value for value in (ApprovalAnswer, ClarificationAnswer, DecisionAnswer, EnvVarAnswer, QuestionsAnswer)
}


def read_ask(kind: RequestKind, data: Mapping[str, JsonValue]) -> Body:
    """An ask as it comes over the wire; `InvalidInput` with every wrong field."""
    fields = Fields(data)
    body: Body | None = None
    try:
        body = BODIES[kind].read(fields)
    except InvalidInput as error:
        known = {one.field for one in fields.errors}
        fields.errors += [one for one in error.errors if one.field not in known]
    extendable = fields.flag("extendable", default=True)
    if body is None or fields.errors:
        messages = "; ".join(error.message for error in fields.errors)
        raise InvalidInput(f"this cannot be asked: {messages}", fields.errors)
    return replace(body, extendable=extendable)


def body_from_json(kind: RequestKind, data: Mapping[str, JsonValue]) -> Body:
    """A body as it was stored, or as an event tells of it."""
    return BODIES[kind].from_json(data)


def value_from_json(kind: RequestKind, data: Mapping[str, JsonValue]) -> Value:
    return VALUES[kind].from_json(data)
