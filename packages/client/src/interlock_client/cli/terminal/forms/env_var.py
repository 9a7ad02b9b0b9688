"""Values by name; what is sensitive is not shown while it is typed, and not kept here after it was sent."""

from collections.abc import Mapping
from typing import Any

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Checkbox, Input, Static
from typing_extensions import override

from interlock_client.cli.terminal.contents import content, join_lines
from interlock_client.cli.terminal.forms.form import Form, Incomplete
from interlock_client.cli.terminal.revealing import Line, Piece, line, lines
from interlock_client.cli.terminal.wording import one_line


class EnvVarForm(Form):
    DEFAULT_CSS = """
    EnvVarForm Checkbox { border: none; padding: 0; height: 1; }
    EnvVarForm Checkbox:focus { border: none; }
    """

    @override
    def compose(self) -> ComposeResult:
        for field in self._fields:
            yield Static(join_lines(_describe(field)), classes="label", markup=False)
            yield Input(password=bool(field.get("sensitive", True)), compact=True)
        if self.waiting.data.get("allow_save"):
            agent = Piece(one_line(self.waiting.agent))
            label = content((Piece("Save encrypted; later asks of "), agent, Piece(" are filled without me")))
            yield Checkbox(Content(label.plain))

    @property
    def _fields(self) -> list[Mapping[str, Any]]:
        return list(self.waiting.data["fields"])

    @override
    def response(self) -> dict[str, Any]:
        texts = [field.value for field in self.query(Input)]
        missing = [
            str(field["name"])
            for field, value in zip(self._fields, texts, strict=True)
            if field.get("required", True) and not value
        ]
        if missing:
            raise Incomplete(f"Missing: {one_line(', '.join(missing))}")
        values = {str(field["name"]): value for field, value in zip(self._fields, texts, strict=True) if value}
        save = any(box.value for box in self.query(Checkbox))
        return {"values": values, **({"save": True} if save else {})}

    @override
    def clear(self) -> None:
        for field in self.query(Input):
            field.value = ""


def _describe(field: Mapping[str, Any]) -> list[Line]:
    name, label = str(field["name"]), str(field.get("label") or "")
    needed = "" if field.get("required", True) else " (may stay empty)"
    called = (Piece(" · "), *line(label)) if label and label != name else ()
    first = (*line(name), *called, Piece(needed, "quiet"))
    return [first, *lines(str(field["description"]))] if field.get("description") else [first]
