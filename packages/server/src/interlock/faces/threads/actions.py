"""What `continue`, `cancel` and `answer` mean for the open requests of a pause."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interlock.domain.errors import InvalidAnswer
from interlock.domain.kinds import RequestKind
from interlock.domain.kinds.fields import is_blank
from interlock.domain.request import Request
from interlock.faces.threads.kinds import ROWS, questions_of
from interlock.services.requests.answering import Choose, Reply

Action = Callable[[Sequence[Request], Sequence[Any], str | None], list[Reply]]


def choose(action: str, answers: Sequence[Any], reason: str | None) -> Choose:
    return lambda requests: ACTIONS[action](requests, answers, reason)


def _continue(requests: Sequence[Request], _answers: Sequence[Any], _reason: str | None) -> list[Reply]:
    approvals = [request for request in requests if request.kind is RequestKind.APPROVAL]
    if not approvals:
        raise InvalidAnswer("continue does not answer a question: use answer, with one text for each question")
    return [Reply(request.id, {"decision": "accept"}) for request in approvals]


def _cancel(requests: Sequence[Request], _answers: Sequence[Any], reason: str | None) -> list[Reply]:
    refusal = {"decision": "reject", **({"message": reason} if reason else {})}
    return [
        Reply(request.id, refusal if request.kind is RequestKind.APPROVAL else None, reason) for request in requests
    ]


def _answer(requests: Sequence[Request], answers: Sequence[Any], _reason: str | None) -> list[Reply]:
    questions = [request for request in requests if request.kind is not RequestKind.APPROVAL]
    if not questions:
        raise InvalidAnswer("answer does not settle an approval: use continue or cancel")
    return [Reply(questions[0].id, answer_value(questions[0], answers))]


ACTIONS: Mapping[str, Action] = {"continue": _continue, "cancel": _cancel, "answer": _answer}


def answer_value(request: Request, answers: Sequence[Any]) -> Mapping[str, Any]:
    """One text for each question that was shown, in the shape that the core checks; a free interrupt takes any JSON."""
    questions = questions_of(request.body, "zh") or []
    if len(answers) != len(questions):
        raise InvalidAnswer(f"answers count ({len(answers)}) does not match questions count ({len(questions)})")
    if request.is_free:
        return {"answer": answers[0]}
    for index, answer in enumerate(answers):
        if not isinstance(answer, str):
            raise InvalidAnswer(f"answer at index {index} must be a string")
        if is_blank(answer) and questions[index].get("required", True):
            raise InvalidAnswer(f"answer at index {index} is empty")
    row = ROWS[request.kind]
    assert row is not None
    return row.value(request.body, answers)
