"""Editing arguments without a program of one's own, or after one left something that is no JSON."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static, TextArea

from interlock_client.cli.terminal import editing


class EditScreen(Screen[str | None]):
    """Gives a text that `editing.read` takes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "done", show=False, priority=True),
        Binding("escape", "leave", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    EditScreen { layout: vertical; }
    EditScreen #title { background: $primary-muted; height: auto; padding: 0 1; text-style: bold; }
    EditScreen TextArea { height: 1fr; border: none; }
    EditScreen #notice, EditScreen #keys { height: auto; padding: 0 1; }
    EditScreen #keys { color: $text-muted; }
    """

    def __init__(self, text: str, notice: str = "") -> None:
        super().__init__()
        self._text = text
        self._first_notice = notice

    def compose(self) -> ComposeResult:
        yield Static(Content("The arguments, as JSON"), id="title", markup=False)
        yield TextArea(self._text, id="json")
        yield Static(Content(self._first_notice), id="notice", markup=False)
        yield Static(Content("Ctrl+S: see what changes   Esc: back, nothing is sent"), id="keys", markup=False)

    def on_mount(self) -> None:
        self.query_one("#json").focus()

    def action_done(self) -> None:
        text = self.query_one("#json", TextArea).text
        try:
            editing.read(text)
        except editing.NotJson as error:
            self.query_one("#notice", Static).update(Content(f"This is no JSON object: {error}"))
            return
        self.dismiss(text)

    def action_leave(self) -> None:
        self.dismiss(None)
