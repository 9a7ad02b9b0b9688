"""The handler with windows, on a screen that nobody sees, used as a person would use it."""

import asyncio
import importlib.util
import os
from collections.abc import AsyncGenerator, Generator

import pytest

from interlock_client import ConfirmationRequest, GuiConfirmationHandler, InterlockError
from tests.client.approvals import NAME, approval, approvals
from tests.client.asking import until, within
from tests.servers.screen import Screen, screen
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess

TITLE = "Confirm a tool"


@pytest.fixture(scope="module")
def display() -> Generator[Screen]:
    with screen() as running:
        yield running


class Handler(GuiConfirmationHandler):
    """Keeps what the agent says at last."""

    def __init__(self, ws_url: str, token: str) -> None:
        super().__init__(ws_url, token=token, locale="en")
        self.answers: asyncio.Queue[str] = asyncio.Queue()

    async def on_final_answer(self, answer: str) -> None:
        self.answers.put_nowait(answer)


@pytest.fixture
async def handler(
    server: ServerProcess, token: str, display: Screen, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Handler]:
    monkeypatch.setenv("DISPLAY", display.display)
    async with Handler(server.url, token) as connected:
        await connected.create_session(NAME)
        yield connected


async def windows(display: Screen, count: int = 1, title: str = TITLE, but: str = "") -> list[str]:
    async def look() -> list[str]:
        found = await asyncio.to_thread(display.do, "search", "--onlyvisible", "--name", title)
        return [window for window in found.split() if window != but]

    return await until(look, lambda found: len(found) == count)


async def press(display: Screen, window: str, *keys: str) -> None:
    """As somebody at the keyboard, one key after the other; there is no window manager who would give it the focus."""
    await asyncio.to_thread(display.do, "windowfocus", "--sync", window)
    for key in keys:
        await asyncio.to_thread(display.do, "key", "--delay", "20", key)


def test_this_python_has_tkinter() -> None:
    assert importlib.util.find_spec("tkinter") is not None, "install Tk for this Python (Debian: python3-tk)"


async def test_a_tool_is_confirmed_by_its_button(handler: Handler, display: Screen) -> None:
    await handler.send_message(approval("send_note", path="a"))
    [window] = await windows(display)
    # Enter says nothing; the button for yes has to be reached first.
    await press(display, window, "Return", "shift+Tab", "space")
    assert await within(handler.answers.get()) == 'send_note accept {"path": "a"}'
    await windows(display, 0)


async def test_the_button_that_has_the_focus_refuses(handler: Handler, display: Screen) -> None:
    await handler.send_message(approval("send_note"))
    [window] = await windows(display)
    await press(display, window, "space")
    assert await within(handler.answers.get()) == "send_note reject {} Refused by the user"


async def test_a_closed_window_refuses(handler: Handler, display: Screen) -> None:
    await handler.send_message(approval("send_note"))
    [window] = await windows(display)
    await press(display, window, "Escape")
    assert (await within(handler.answers.get())).startswith("send_note reject")


async def test_what_is_of_high_risk_is_typed_out(handler: Handler, display: Screen) -> None:
    await handler.send_message(approval("wipe", "critical"))
    [window] = await windows(display)
    # While the name is not typed, the button for yes cannot be reached: this ends at the entry.
    await press(display, window, "shift+Tab", "w", "i", "p", "Tab", "shift+Tab", "End", "e")
    await press(display, window, "Tab", "space")
    assert (await within(handler.answers.get())).startswith("wipe accept")


async def test_the_loop_goes_on_while_a_window_is_open(handler: Handler, display: Screen) -> None:
    await handler.send_message(approvals("one", "two"))
    [first] = await windows(display)
    for _ in range(20):
        await asyncio.wait_for(asyncio.sleep(0), 1)
    await press(display, first, "space")
    [second] = await windows(display, but=first)
    await press(display, second, "space")
    assert (await within(handler.answers.get())).count("reject") == 2


async def test_a_question_is_answered_in_a_form(
    server: ServerProcess, token: str, display: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", display.display)
    async with Handler(server.url, token) as handler:
        options = {"question": "Which colour?", "options": ["red", "blue"]}
        await handler.send_message(script(calls(("request_clarification", options))))
        [window] = await windows(display, title="The agent asks")
        await press(display, window, "shift+Tab", "shift+Tab", "2", "Tab", "space")
        assert "blue" in await within(handler.answers.get())


async def test_a_window_ends_with_its_question(handler: Handler, display: Screen) -> None:
    await handler.send_message(approval("send_note"))
    await windows(display)
    await handler.cancel()
    await handler.close()
    await windows(display, 0)


async def test_without_a_screen_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    handler = GuiConfirmationHandler("ws://127.0.0.1:9")
    with pytest.raises(InterlockError) as failed:
        await within(handler.on_confirmation_requested(ConfirmationRequest("s1", "", "one", "", {})))
    assert failed.value.code == "no_display"
    assert "DISPLAY" not in os.environ
