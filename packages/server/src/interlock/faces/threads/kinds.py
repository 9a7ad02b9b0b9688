"""The kinds of request on this face: one row each, with the questions that are shown and how their answers are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from interlock.domain.kinds import (
    Body,
    ClarificationBody,
    DecisionBody,
    EnvVarBody,
    QuestionsBody,
    RequestKind,
)
from interlock.domain.kinds.fields import CUSTOM, is_blank
from interlock.texts import Locale
from interlock.texts import threads_text as text

Option = dict[str, Any]
Question = dict[str, Any]

B = TypeVar("B", bound=Body)


@dataclass(frozen=True, slots=True)
class Row(Generic[B]):
    questions: Callable[[B, Locale], list[Question]]
    value: Callable[[B, Sequence[str]], Mapping[str, Any]]
    """From one text for each question to what the core checks."""


def questions_of(body: Body, locale: Locale) -> list[Question] | None:
    """Everything but an approval, as questions with options."""
    row = ROWS[body.kind]
    return row.questions(body, locale) if row else None


def _questions(body: QuestionsBody, _locale: Locale) -> list[Question]:
    """The first one says what they are about, where a graph handed over more than questions."""
    first, *rest = (question.to_json() for question in body.questions)
    return [{**first, "question": "\n\n".join(part for part in (body.about, first["question"]) if part)}, *rest]


def _clarification(body: ClarificationBody, locale: Locale) -> list[Question]:
    options: list[Option] = [{"label": option, "value": option} for option in body.options]
    if options and body.allow_custom:
        options.append({"label": text("custom", locale), "value": CUSTOM, "allow_custom": True})
    return [{"question": body.question, "options": options}]


def _decision(body: DecisionBody, _locale: Locale) -> list[Question]:
    options = [{"label": option.label, "value": option.key} for option in body.options]
    return [{"question": body.text, "options": options}]


def _variables(body: EnvVarBody, _locale: Locale) -> list[Question]:
    return [
        {
            "question": ": ".join(part for part in (field.label or field.name, field.description) if part),
            "options": [],
            "name": field.name,
            "required": field.required,
            "sensitive": field.sensitive,
        }
        for field in body.fields
    ]


def _values(body: EnvVarBody, answers: Sequence[str]) -> Mapping[str, Any]:
    given = zip(body.fields, answers, strict=True)
    return {"values": {field.name: "" if is_blank(text) else text for field, text in given}}


ROWS: Mapping[RequestKind, Row[Any] | None] = {
    # It is answered by `continue` and `cancel`.
    RequestKind.APPROVAL: None,
    RequestKind.QUESTIONS: Row(_questions, lambda _, answers: {"answers": list(answers)}),
    RequestKind.CLARIFICATION: Row(_clarification, lambda _, answers: {"answer": answers[0]}),
    RequestKind.DECISION: Row(_decision, lambda body, answers: body.split(answers[0])),
    RequestKind.ENV_VAR: Row(_variables, _values),
}
