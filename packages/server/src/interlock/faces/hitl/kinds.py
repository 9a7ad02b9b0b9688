"""The kinds of request on this face: one row each, with its events and how it and its answer are shown.

How a reply is read is one table for several faces: see `faces.shared.responses`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from interlock.domain.kinds import Body, QuestionsBody, RequestKind, Value
from interlock.faces.shared.responses import permission_response

B = TypeVar("B", bound=Body)
V = TypeVar("V", bound=Value)


def _as_it_is(value: Any) -> dict[str, Any]:
    return value.to_json()


def _questions(body: QuestionsBody) -> dict[str, Any]:
    # For clients that know a single question only.
    lines = "\n".join([*filter(None, [body.about]), *(question.question for question in body.questions)])
    return body.to_json() | {"question": lines, "options": [], "allow_custom": True, "default_answer": None}


@dataclass(frozen=True, slots=True)
class Row(Generic[B, V]):
    asked: str
    """The event that tells of the request."""
    answered: str
    """The event that tells of its answer."""
    body: Callable[[B], dict[str, Any]] = _as_it_is
    response: Callable[[V], dict[str, Any]] = _as_it_is
    """The answer in the words in which this face takes one; secret values are hidden already."""


ROWS: Mapping[RequestKind, Row[Any, Any]] = {
    RequestKind.APPROVAL: Row("permission_asked", "permission_replied", response=permission_response),
    RequestKind.CLARIFICATION: Row("clarification_asked", "clarification_answered"),
    RequestKind.QUESTIONS: Row("clarification_asked", "clarification_answered", _questions),
    RequestKind.DECISION: Row("decision_asked", "decision_answered"),
    RequestKind.ENV_VAR: Row("env_var_requested", "env_var_provided"),
}


def kinds_of(request_type: str) -> tuple[RequestKind, ...]:
    return tuple(kind for kind in ROWS if kind.public_type == request_type)


def response_of(value: Value) -> dict[str, Any]:
    return ROWS[value.kind].response(value)
