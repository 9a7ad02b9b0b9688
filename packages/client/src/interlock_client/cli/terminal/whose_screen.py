"""Whose requests are listed."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from interlock_client.cli.terminal.choice import Choice
from interlock_client.cli.terminal.revealing import line
from interlock_client.cli.terminal.team_wording import TeamWording

WHOSE = ("all", "me", "claimed")


class WhoseScreen(ModalScreen[str | None]):
    """Gives `all`, `me`, `claimed` or `group:NAME`."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", show=False)]
    DEFAULT_CSS = """
    WhoseScreen { align: center middle; }
    WhoseScreen VerticalScroll { width: 60; max-width: 100%; height: auto; max-height: 100%; }
    WhoseScreen VerticalScroll { padding: 0 1; background: $panel; }
    """

    def __init__(self, wording: TeamWording, offered: Sequence[str], chosen: str) -> None:
        super().__init__()
        self._wording = wording
        self._offered = offered
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(Content(self._wording.text("whose")), markup=False)
            chosen = self._offered.index(self._chosen) if self._chosen in self._offered else None
            yield Choice([line(self._wording.whose(one)) for one in self._offered], chosen=chosen, id="whose")

    def on_mount(self) -> None:
        self.query_one("#whose").focus()

    def on_choice_chosen(self, event: Choice.Chosen) -> None:
        self.dismiss(self._offered[event.index])

    def action_leave(self) -> None:
        self.dismiss(None)
