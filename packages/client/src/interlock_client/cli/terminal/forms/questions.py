"""Several questions at once."""

from collections.abc import Mapping, Sequence
from typing import Any

from textual.app import ComposeResult
from typing_extensions import override

from interlock_client.cli.terminal.forms.form import Form, Incomplete
from interlock_client.cli.terminal.forms.question import QuestionField
from interlock_client.cli.terminal.revealing import Line, Piece, line, lines


class QuestionsForm(Form):
    @override
    def compose(self) -> ComposeResult:
        for number, question in enumerate(self._questions, 1):
            options: Sequence[Mapping[str, Any]] = question.get("options") or ()
            first, *rest = lines(str(question["question"]))
            yield QuestionField(
                [(Piece(f"{number}. ", "name"), *first), *rest],
                [(_option(option), str(option["value"])) for option in options if not option.get("allow_custom")],
                allow_custom=any(option.get("allow_custom") for option in options),
            )

    @property
    def _questions(self) -> Sequence[Mapping[str, Any]]:
        return self.waiting.data["questions"]

    @override
    def response(self) -> dict[str, Any]:
        answers = [field.answer for field in self.query(QuestionField)]
        missing = [str(number) for number, answer in enumerate(answers, 1) if answer is None]
        if missing:
            raise Incomplete(f"Not answered yet: {', '.join(missing)}")
        return {"answers": answers}


def _option(option: Mapping[str, Any]) -> Line:
    """What is shown, and what is answered where that is something else."""
    label, value = str(option["label"]), str(option["value"])
    return (*line(label), Piece("  ["), *line(value), Piece("]")) if label != value else line(label)
