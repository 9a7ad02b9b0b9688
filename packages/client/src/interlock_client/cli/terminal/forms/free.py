"""What a graph asked without saying what it takes: yes, no, a text or any JSON, and what the graph gets of it."""

from typing import Any

from textual.app import ComposeResult
from textual.widgets import Input, Static
from typing_extensions import override

from interlock_client.cli.terminal import free
from interlock_client.cli.terminal.choice import Choice
from interlock_client.cli.terminal.contents import content
from interlock_client.cli.terminal.editing import NotJson
from interlock_client.cli.terminal.forms.form import Form, Incomplete
from interlock_client.cli.terminal.revealing import Line, Piece, line

WAYS = ("Yes: the graph gets true", "No: the graph gets false", "a text:", "JSON:")


class FreeForm(Form):
    """Nothing is chosen beforehand."""

    @override
    def compose(self) -> ComposeResult:
        options: list[Line] = [line(one) for one in self._options]
        yield Choice([*options, *((Piece(way),) for way in WAYS)])
        yield Input(compact=True)
        yield Static("", id="gets", markup=False)

    @property
    def _options(self) -> list[str]:
        return [str(one) for one in self.waiting.options]

    @override
    def response(self) -> dict[str, Any]:
        return {"answer": self._choice().sent}

    def _choice(self) -> free.FreeAnswer:
        place, typed = self.query_one(Choice).chosen, self.query_one(Input).value.strip()
        if place is None:
            raise Incomplete("Choose one.")
        if place < len(self._options):
            return free.text(self._options[place])
        match place - len(self._options):
            case 0:
                return free.YES
            case 1:
                return free.NO
            case _ if not typed:
                raise Incomplete("Write the answer first.")
            case 2:
                return free.text(typed)
            case _:
                return self._json(typed)

    def _json(self, typed: str) -> free.FreeAnswer:
        try:
            return free.json(typed)
        except NotJson as error:
            raise Incomplete(f"This is no JSON: {error}") from error

    def on_choice_chosen(self, event: Choice.Chosen) -> None:
        field = self.query_one(Input)
        if event.index >= len(self._options) + 2 and not field.value:
            field.focus()
        self._tell()

    def on_input_changed(self, _event: Input.Changed) -> None:
        self._tell()

    def _tell(self) -> None:
        """What would be sent, as it is chosen and typed."""
        try:
            line = self._choice().line
        except Incomplete as error:
            line = (Piece(str(error), "quiet"),)
        self.query_one("#gets", Static).update(content(line))
