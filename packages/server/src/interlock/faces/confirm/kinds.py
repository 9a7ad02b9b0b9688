"""The kinds of request on this face: one row each, with what a person is asked and what it is about.

How a reply is read is the same as on the hitl face: see `faces.shared.responses`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from interlock.domain.kinds import (
    ApprovalBody,
    Body,
    ClarificationBody,
    DecisionBody,
    EnvVarBody,
    QuestionsBody,
    RequestKind,
)
from interlock.texts import Locale
from interlock.texts import confirm_text as text

B = TypeVar("B", bound=Body)


@dataclass(frozen=True, slots=True)
class Row(Generic[B]):
    question: Callable[[B, Locale], str]
    description: Callable[[B], str] | None = None
    """Where it is more than what is asked."""


def question(body: Body, locale: Locale) -> str:
    """What a person is asked, in one text."""
    return ROWS[body.kind].question(body, locale)


def description_of(body: Body, locale: Locale) -> str:
    """What it is about, for clients that show a tool with its description."""
    row = ROWS[body.kind]
    return row.description(body) if row.description else row.question(body, locale)


def _approval(body: ApprovalBody, locale: Locale) -> str:
    return text("confirm", locale, tool=body.tool_name)


def _clarification(body: ClarificationBody, locale: Locale) -> str:
    return text("answer", locale, what=body.question)


def _decision(body: DecisionBody, locale: Locale) -> str:
    return text("answer", locale, what=body.title)


def _questions(body: QuestionsBody, locale: Locale) -> str:
    lines = [*filter(None, [body.about]), *(one.question for one in body.questions)]
    return text("answer", locale, what="\n".join(lines))


def _variables(body: EnvVarBody, locale: Locale) -> str:
    return text("provide", locale, what=", ".join(field.name for field in body.fields))


ROWS: Mapping[RequestKind, Row[Any]] = {
    RequestKind.APPROVAL: Row(_approval, lambda body: body.with_details(body.description or body.tool_display_name)),
    RequestKind.CLARIFICATION: Row(_clarification),
    RequestKind.DECISION: Row(_decision, lambda body: body.description or body.title),
    RequestKind.QUESTIONS: Row(_questions),
    RequestKind.ENV_VAR: Row(_variables),
}
