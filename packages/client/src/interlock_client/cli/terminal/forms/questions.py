"""One question, or several at once: options where there are any, and one's own words where they are allowed."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static
from typing_extensions import override

from interlock_client.cli.terminal.choice import Choice
from interlock_client.cli.terminal.contents import join_lines
from interlock_client.cli.terminal.forms.form import Form, Incomplete
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


OWN_WORDS = (Piece("in my own words:"),)


class QuestionField(Vertical):
    DEFAULT_CSS: ClassVar[str] = """
    QuestionField { height: auto; margin-bottom: 1; }
    """

    def __init__(self, text: Sequence[Line], options: Sequence[tuple[Line, str]], *, allow_custom: bool) -> None:
        """`options` are what is shown and what is answered."""
        super().__init__()
        self._text = text
        self._options = options
        self._allow_custom = allow_custom or not options

    def compose(self) -> ComposeResult:
        if self._text:
            yield Static(join_lines(self._text), classes="label", markup=False)
        if self._options:
            own = [OWN_WORDS] if self._allow_custom else []
            yield Choice([*(line for line, _ in self._options), *own])
        if self._allow_custom:
            yield Input(compact=True)

    @property
    def answer(self) -> str | None:
        """None where there is none yet."""
        if not self._options:
            return self.query_one(Input).value.strip() or None
        chosen = self.query_one(Choice).chosen
        if chosen is None:
            return None
        if chosen < len(self._options):
            return self._options[chosen][1]
        return self.query_one(Input).value.strip() or None

    def on_input_changed(self, event: Input.Changed) -> None:
        if self._options and event.value:
            choice = self.query_one(Choice)
            if choice.chosen != len(self._options):
                choice.choose(len(self._options))

    def on_choice_chosen(self, event: Choice.Chosen) -> None:
        if event.index == len(self._options):
            field = self.query_one(Input)
            if not field.value:
                field.focus()


class ClarificationForm(Form):
    @override
    def compose(self) -> ComposeResult:
        options = [(line(str(one)), str(one)) for one in self.waiting.options]
        yield QuestionField((), options, allow_custom=bool(self.waiting.data.get("allow_custom", True)))

    @override
    def response(self) -> dict[str, Any]:
        answer = self.query_one(QuestionField).answer
        if answer is None:
            raise Incomplete("Choose one, or write an answer.")
        return {"answer": answer}
