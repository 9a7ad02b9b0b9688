"""The inbox driven by keys, in this process and without a terminal; and somebody who asks."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from interlock_client.cli.terminal.app import InboxApp
from interlock_client.cli.terminal.confirm_screen import ConfirmScreen
from interlock_client.cli.terminal.request_screen import RequestScreen
from interlock_client.client import Interlock
from tests.support.hitl import HitlClient

WAIT_SECONDS = 60.0


class Asker(HitlClient):
    """An agent that runs elsewhere."""

    def approval(self, tool: str = "file_delete", **fields: Any) -> str:
        asked: dict[str, Any] = {"tool_name": tool, "args": {"path": "/tmp/a.txt"}, **fields}
        return self.ask("permission", asked)["request_id"]

    def response_to(self, request_id: str) -> dict[str, Any]:
        """What was answered, once it was; it is waited for, but not for ever."""
        found = self.look(request_id, wait=WAIT_SECONDS)
        assert found["status"] == "answered", found
        return found["response"]


class Driver:
    def __init__(self, app: InboxApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def text(self) -> str:
        """What is on the screen."""
        strips: Any = self.app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
        return "\n".join(strip.text.rstrip() for strip in strips)

    async def until(self, is_so: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_so():
            assert time.monotonic() < deadline, f"{what}:\n{self.text}"
            await self.pilot.pause(0.02)

    async def sees(self, text: str) -> str:
        await self.until(lambda: text in self.text, f"no {text!r} on the screen")
        return self.text

    async def sees_no(self, text: str) -> None:
        await self.until(lambda: text not in self.text, f"still {text!r} on the screen")

    async def press(self, *keys: str) -> None:
        """Keys, each once the screen that it is for takes keys."""
        for key in keys:
            await self.until(self._is_ready, "the screen takes no keys")
            await self.pilot.press(key)

    def _is_ready(self) -> bool:
        screen: Any = self.app.screen
        return screen.ready if isinstance(screen, RequestScreen | ConfirmScreen) else True

    async def type(self, text: str) -> None:
        for letter in text:
            await self.pilot.press({" ": "space", "_": "underscore", "/": "slash", "-": "minus"}.get(letter, letter))

    async def open(self, text: str) -> None:
        """Open the request that is listed first, once one with that text is listed; and wait until it takes keys."""
        await self.open_without_waiting(text)
        await self.sees("Esc back")
        await self.until(self._is_ready, "the screen takes no keys")

    async def open_without_waiting(self, text: str) -> None:
        await self.sees(text)
        await self.press("enter")
        await self.until(lambda: isinstance(self.app.screen, RequestScreen), "it did not open")


@asynccontextmanager
async def inbox(
    url: str, key: str | None = None, *, editor: str | None = None, locale: str = "en"
) -> AsyncGenerator[Driver]:
    async with (
        Interlock(url, key=key, locale=locale, patience=0.0) as looking,
        Interlock(url, key=key, locale=locale, patience=2.0, timeout=3.0) as answering,
    ):
        app = InboxApp(looking, answering, editor=editor, locale=locale)
        async with app.run_test(size=(80, 24)) as pilot:
            yield Driver(app, pilot)
