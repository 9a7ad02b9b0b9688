"""A few words of one's own: a reason, a reply."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from interlock_client.cli.terminal.choice import Choice
from interlock_client.cli.terminal.revealing import line
from interlock_client.cli.terminal.wording import ONCE, Remember


@dataclass(frozen=True, slots=True)
class TextEntry:
    text: str
    remember: Remember = ONCE


class TextScreen(Screen[TextEntry | None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "send", show=False, priority=True),
        Binding("escape", "leave", show=False),
    ]
    DEFAULT_CSS = """
    TextScreen { layout: vertical; }
    TextScreen #title { background: $primary-muted; height: auto; padding: 0 1; text-style: bold; }
    TextScreen Input { height: 1; border: none; margin: 1; background: $boost; }
    TextScreen #remember { margin: 0 1; }
    TextScreen #notice, TextScreen #keys { height: auto; padding: 0 1; }
    TextScreen #keys { color: $text-muted; dock: bottom; }
    """

    def __init__(
        self, title: str, text: str = "", *, required: bool = False, remember: Sequence[Remember] = (ONCE,)
    ) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._required = required
        self._choices = remember

    def compose(self) -> ComposeResult:
        yield Static(Content(self._title), id="title", markup=False)
        yield Input(self._text, id="text", compact=True)
        if len(self._choices) > 1:
            yield Choice([line(one.sentence) for one in self._choices], chosen=0, id="remember")
        yield Static(id="notice", markup=False)
        moves = "   Tab moves" if len(self._choices) > 1 else ""
        yield Static(Content(f"Ctrl+S: send   Esc: back, nothing is sent{moves}"), id="keys", markup=False)

    def on_mount(self) -> None:
        self.query_one("#text").focus()

    def action_send(self) -> None:
        text = self.query_one("#text", Input).value.strip()
        if self._required and not text:
            self.query_one("#notice", Static).update(Content("Some words are needed."))
            return
        chosen = self.query_one("#remember", Choice).chosen if len(self._choices) > 1 else 0
        self.dismiss(TextEntry(text, self._choices[chosen or 0]))

    def action_leave(self) -> None:
        self.dismiss(None)
