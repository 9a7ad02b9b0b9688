"""The inbox in a terminal."""

import logging
from contextlib import suppress
from datetime import datetime
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from typing_extensions import override

from interlock_client.cli._server import reason
from interlock_client.cli.terminal.feed import EVERYONE, Feed, Listeners
from interlock_client.cli.terminal.list_screen import ListScreen
from interlock_client.cli.terminal.open_request import OpenRequest
from interlock_client.cli.terminal.request_screen import RequestScreen
from interlock_client.cli.terminal.team_wording import GROUP, TeamWording, language_of
from interlock_client.cli.terminal.whose_screen import WHOSE, WhoseScreen
from interlock_client.cli.terminal.wording import moment, one_line
from interlock_client.client import Interlock
from interlock_client.errors import InterlockError, NetworkError

LOST = "○ no connection since"


class InboxApp(App[None]):
    """`reader` finds out what waits, and should have no patience; `sender` sends what people decided."""

    ENABLE_COMMAND_PALETTE = False
    TITLE = "Interlock"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", show=False, priority=True)]

    def __init__(self, reader: Interlock, sender: Interlock, *, editor: str | None = None, locale: str = "en") -> None:
        super().__init__()
        self.sender = sender
        self.team = TeamWording(language_of(locale))
        self.me = ""
        """The reader's name, once it is known."""
        self.whom = EVERYONE
        """Whose requests are listed."""
        self.editor = editor
        self.waiting: list[OpenRequest] = []
        self.typed: dict[str, dict[str, str]] = {}
        """Of each request that waits, what was typed and not sent."""
        self.connected = False
        self.connection = "○ connecting"
        self.feed = Feed(reader, Listeners(self._show_list, self._waits, self._show_settled, self._connection))
        self._list = ListScreen()
        # What goes to standard error would be written over the screen.
        logging.getLogger("interlock_client").addHandler(logging.NullHandler())

    @override
    def get_default_screen(self) -> ListScreen:
        return self._list

    def on_mount(self) -> None:
        self.run_worker(self.feed.run(), name="feed", exit_on_error=True)
        self.run_worker(self._find_name(), name="name", exit_on_error=True)

    async def _find_name(self) -> None:
        with suppress(InterlockError):
            self.me = (await self.sender.whoami()).username

    @property
    def visible_requests(self) -> list[OpenRequest]:
        chosen = self.feed.chosen
        return self.waiting if chosen is None else [one for one in self.waiting if one.id in chosen]

    def choose_whose(self) -> None:
        self.run_worker(self._choose_whose(), name="whose", exclusive=True, group="whose", exit_on_error=True)

    async def _choose_whose(self) -> None:
        try:
            found = await self.sender.whoami()
            groups = await self.sender.groups()
        except InterlockError as error:
            self._list.show_text(self.team.text("failed", message=reason(error)))
            return
        self.me = found.username
        own = [f"{GROUP}{one.name}" for one in groups if found.role == "admin" or self.me in one.members]
        self.push_screen(WhoseScreen(self.team, [*WHOSE, *own], self.whom), self._show_whose)

    def _show_whose(self, whom: str | None) -> None:
        if whom is not None:
            self.whom = whom
            self.feed.choose(whom)
            self._list.refresh_rows()

    def open_request(self, request_id: str) -> None:
        found = self._find(request_id)
        if found is not None and self._open is None:
            self._list.show_text("")
            self.push_screen(RequestScreen(found))

    def _find(self, request_id: str) -> OpenRequest | None:
        return next((one for one in self.waiting if one.id == request_id), None)

    @property
    def _open(self) -> RequestScreen | None:
        return next((one for one in self.screen_stack if isinstance(one, RequestScreen)), None)

    def _show_list(self, waiting: list[OpenRequest]) -> None:
        self.waiting = waiting
        self.typed = {one.id: self.typed[one.id] for one in waiting if one.id in self.typed}
        self._list.refresh_rows()
        if self._open is not None and (found := self._find(self._open.waiting.id)):
            self._open.refresh_waiting(found)

    def _waits(self, waiting: OpenRequest) -> None:
        if self._open is not None and self._open.waiting.id == waiting.id:
            self._open.still_waits()

    def _show_settled(self, waiting: OpenRequest, how: str) -> None:
        is_open = self._open is not None and self._open.waiting.id == waiting.id
        if self._open is not None and is_open:
            self._open.show_settled(how)
        if not (self._open is not None and is_open and self._open.sending):
            self._list.show_text(f"{one_line(waiting.summary)[:60]}: {how}")

    def _connection(self, error: InterlockError | None) -> None:
        was_connected, self.connected = self.connected, error is None
        if error is None and self.connection.startswith(LOST):
            self.connection = f"● live again since {moment(datetime.now().astimezone())}"
        elif error is None and not was_connected:
            self.connection = "● live"
        elif error is None:
            return
        elif not isinstance(error, NetworkError):
            self.connection = "○ refused"
            self._list.show_text(reason(error))
        elif was_connected or not self.connection.startswith(LOST):
            self.connection = f"{LOST} {moment(datetime.now().astimezone())}"
        self._list.refresh_rows()
        if self._open is not None:
            self._open.refresh_state()
