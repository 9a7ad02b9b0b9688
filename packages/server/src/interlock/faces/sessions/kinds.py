"""The kinds of request on this face: one row each, with what is shown and how a `response` is read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from interlock.domain.errors import FieldError, InvalidAnswer
from interlock.domain.kinds import (
    ApprovalBody,
    Body,
    DecisionBody,
    EnvVarBody,
    QuestionsBody,
    RequestKind,
)
from interlock.domain.request import Request

Args = Mapping[str, Any]
B = TypeVar("B", bound=Body)


@dataclass(frozen=True, slots=True)
class Row(Generic[B]):
    description: Callable[[B], str]
    response: Callable[[B, Args], Mapping[str, Any]]
    """From the arguments of a `response` to what the core checks."""


def description_of(body: Body) -> str:
    return ROWS[body.kind].description(body)


def response_of(request: Request, args: Args) -> Mapping[str, Any]:
    return {"answer": _any_json(args)} if request.is_free else ROWS[request.kind].response(request.body, args)


def wrong(field: str, code: str, message: str) -> InvalidAnswer:
    return InvalidAnswer(message, [FieldError(field, code, message)])


def _approval(body: ApprovalBody) -> str:
    return body.with_details(body.description or body.action)


def _questions(body: QuestionsBody) -> str:
    lines = "\n".join(question.question for question in body.questions)
    return "\n\n".join(part for part in (body.about, lines) if part)


def _answers(body: QuestionsBody, args: Args) -> Mapping[str, Any]:
    answers = args.get("answers", args.get("args"))
    if isinstance(answers, list):
        return {"answers": cast("list[Any]", answers)}
    if len(body.questions) == 1:
        return {"answers": [_text(args)]}
    raise wrong("args.answers", "missing", "args.answers is a list: one text for each question")


def _decision_value(body: DecisionBody, args: Args) -> Mapping[str, Any]:
    reason = {"reason": args["reason"]} if "reason" in args else {}
    return reason | body.split(_text(args))


def _values(_body: EnvVarBody, args: Args) -> Mapping[str, Any]:
    return {name: args[name] for name in ("values", "save") if name in args}


def _text(args: Args) -> str:
    given = _values_of(args)
    if len(given) != 1 or not isinstance(given[0], str):
        raise wrong("args.args", "missing", "a response is one text, as args.args, args.text or args.answer")
    return given[0]


def _any_json(args: Args) -> Any:
    given = _values_of(args)
    if len(given) != 1:
        raise wrong("args.answer", "missing", "the answer is any JSON, as args.answer")
    return given[0]


def _values_of(args: Args) -> Sequence[Any]:
    return [args[name] for name in ("args", "text", "answer") if name in args]


ROWS: Mapping[RequestKind, Row[Any]] = {
    RequestKind.APPROVAL: Row(_approval, lambda _, args: {"decision": "response", "message": _text(args)}),
    RequestKind.CLARIFICATION: Row(lambda body: body.question, lambda _, args: {"answer": _text(args)}),
    RequestKind.DECISION: Row(lambda body: body.text, _decision_value),
    RequestKind.ENV_VAR: Row(lambda body: ", ".join(one.label or one.name for one in body.fields), _values),
    RequestKind.QUESTIONS: Row(_questions, _answers),
}
