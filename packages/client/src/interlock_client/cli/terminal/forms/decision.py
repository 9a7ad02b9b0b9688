"""One of several options, which an agent may have marked as dangerous."""

from collections.abc import Mapping
from typing import Any

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static
from typing_extensions import override

from interlock_client.cli.terminal.choice import Choice
from interlock_client.cli.terminal.forms.form import Form, Incomplete
from interlock_client.cli.terminal.open_request import is_dangerous, words_to_type
from interlock_client.cli.terminal.sections import option_line


class DecisionForm(Form):
    @override
    def compose(self) -> ComposeResult:
        yield Choice([option_line(option) for option in self.waiting.options])
        yield Static(Content("reason, if you like:"), classes="label", markup=False)
        yield Input(compact=True)

    @property
    def _option(self) -> Mapping[str, Any] | None:
        chosen = self.query_one(Choice).chosen
        return None if chosen is None else self.waiting.options[chosen]

    @override
    def response(self) -> dict[str, Any]:
        if self._option is None:
            raise Incomplete("Choose one.")
        reason = self.query_one(Input).value.strip()
        return {"decision": self._option["key"], **({"reason": reason} if reason else {})}

    @property
    @override
    def words(self) -> tuple[str, ...]:
        option = self._option
        return words_to_type(str(option["key"])) if option and is_dangerous(option) else ()
