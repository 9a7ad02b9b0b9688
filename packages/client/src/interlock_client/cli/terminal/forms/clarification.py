"""One question."""

from typing import Any

from textual.app import ComposeResult
from typing_extensions import override

from interlock_client.cli.terminal.forms.form import Form, Incomplete
from interlock_client.cli.terminal.forms.question import QuestionField
from interlock_client.cli.terminal.revealing import line


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
