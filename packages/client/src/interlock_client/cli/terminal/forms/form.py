"""What every form can do."""

from typing import Any

from textual.containers import Vertical
from textual.widget import Widget

from interlock_client.cli.terminal.open_request import OpenRequest


class Incomplete(Exception):
    """What is missing, in words; nothing was sent."""


class Form(Vertical):
    DEFAULT_CSS = """
    Form { height: auto; margin-top: 1; }
    Form Input { height: 1; border: none; background: $boost; }
    Form Input:focus { background: $primary-muted; }
    Form .label { height: auto; }
    """

    def __init__(self, waiting: OpenRequest) -> None:
        super().__init__()
        self.waiting = waiting

    def response(self) -> dict[str, Any]:
        """The answer; raises `Incomplete`."""
        raise NotImplementedError

    @property
    def words(self) -> tuple[str, ...]:
        """What has to be typed before this is sent, for a choice that is marked as dangerous."""
        return ()

    def clear(self) -> None:
        """Forget what was typed and must not stay."""

    @property
    def first_field(self) -> Widget | None:
        """Where typing begins."""
        return next((one for one in self.query("Choice, Input, Checkbox").results(Widget)), None)
