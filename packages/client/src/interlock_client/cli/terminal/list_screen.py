"""Everything that waits."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static

from interlock_client.cli.terminal.feed import EVERYONE
from interlock_client.cli.terminal.help_screen import HelpScreen
from interlock_client.cli.terminal.open_request import OpenRequest
from interlock_client.cli.terminal.request_list import RequestList
from interlock_client.cli.terminal.wording import KINDS, one_line

if TYPE_CHECKING:
    from interlock_client.cli.terminal.app import InboxApp

HINTS = "Enter open   / search   f whose   ? help   q quit"


class ListScreen(Screen[None]):
    app: "InboxApp"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o,a,r,e", "open", show=False),
        Binding("slash", "search", show=False),
        Binding("f", "whose", show=False),
        Binding("question_mark", "help", show=False),
        Binding("q", "app.quit", show=False),
        Binding("escape", "end_search", show=False),
    ]
    DEFAULT_CSS = """
    ListScreen { layout: vertical; }
    ListScreen #top { height: 1; background: $primary-muted; }
    ListScreen #title { width: 1fr; padding: 0 1; text-style: bold; }
    ListScreen #connection { width: auto; padding: 0 1; }
    ListScreen #empty { height: auto; padding: 1; display: none; }
    ListScreen #search { height: 1; border: none; display: none; background: $boost; }
    ListScreen #notice { height: auto; max-height: 4; padding: 0 1; color: $text-warning; }
    ListScreen #keys { height: 1; padding: 0 1; color: $text-muted; }
    """

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield Static(id="title", markup=False)
            yield Static(id="connection", markup=False)
        yield RequestList(id="requests")
        yield Static(id="empty", markup=False)
        yield Input(id="search", compact=True)
        yield Static(id="notice", markup=False)
        yield Static(Content(HINTS), id="keys", markup=False)

    def on_mount(self) -> None:
        self.query_one(RequestList).focus()
        self.refresh_rows()
        self.set_interval(1.0, self.refresh_rows)

    def on_resize(self) -> None:
        self.refresh_rows()

    def refresh_rows(self) -> None:
        if not self.query("#keys"):
            return
        waiting, requests = self.app.waiting, self.app.visible_requests
        search = self.query_one("#search", Input).value.lower()
        found = [one for one in requests if search in _search_text(one)]
        now = datetime.now(UTC)
        marks = {one.id: mark for one in found if (mark := self.app.team.mark(one.people, now))}
        self.query_one(RequestList).show(found, now, marks)
        self.query_one("#title", Static).update(Content(f"Interlock · {self._count()}"))
        self.query_one("#connection", Static).update(Content(self.app.connection))
        empty = self.query_one("#empty", Static)
        empty.display = not found
        way = "Esc" if search else "f"
        hidden = f"No match; {len(waiting)} hidden. {way} shows them." if waiting else "✓ Nothing waits."
        empty.update(Content(hidden if self.app.connected else "Not connected yet; nothing is known."))

    def _count(self) -> str:
        app = self.app
        if app.whom == EVERYONE:
            return f"{len(app.waiting)} waiting"
        return f"{len(app.visible_requests)} of {len(app.waiting)} waiting · {app.team.whose(app.whom)}"

    def action_whose(self) -> None:
        self.app.choose_whose()

    def show_text(self, text: str) -> None:
        self.query_one("#notice", Static).update(Content(text))

    def action_open(self) -> None:
        if selected := self.query_one(RequestList).selected_id:
            self.app.open_request(selected)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_id:
            self.app.open_request(event.option_id)

    def action_search(self) -> None:
        field = self.query_one("#search", Input)
        field.display = True
        field.focus()

    def action_end_search(self) -> None:
        field = self.query_one("#search", Input)
        field.value = ""
        field.display = False
        self.query_one(RequestList).focus()
        self.refresh_rows()

    def on_input_changed(self) -> None:
        self.refresh_rows()

    def on_input_submitted(self) -> None:
        self.query_one(RequestList).focus()

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen())


def _search_text(one: OpenRequest) -> str:
    return one_line(f"{one.id} {KINDS[one.kind]} {one.kind} {one.asker} {one.risk} {one.summary}").lower()
