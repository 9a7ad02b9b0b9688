"""The terminal handler, in a real terminal: nothing hidden, Enter is no yes, and high risk is typed out."""

import asyncio
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from interlock_client import CliConfirmationHandler, ConfirmationRequest, ConfirmationResponse
from interlock_client.sync import SyncInterlock
from tests.client.approvals import NAME, approval, approvals
from tests.client.asking import until, within
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess

SECONDS = 60.0

PROGRAM = """
import asyncio, os
from interlock_client import CliConfirmationHandler

class Handler(CliConfirmationHandler):
    async def on_final_answer(self, answer):
        self.say(f"<{answer}>")
        await self.close()

async def main():
    handler = Handler(os.environ["INTERLOCK_URL"], key=os.environ["INTERLOCK_KEY"], locale=os.environ["LOCALE"] or None)
    connecting = asyncio.create_task(handler.connect())
    await handler.create_session(os.environ["AGENT"])
    await handler.send_message(os.environ["MESSAGE"])
    await connecting

asyncio.run(main())
"""


class Typing:
    """A program in a terminal: what it shows, and what is typed."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._near, far = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, **environment},
            stdin=far,
            stdout=far,
            stderr=far,
            start_new_session=True,
        )
        os.close(far)
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self._near, text.encode())

    def until(self, text: str) -> str:
        """Everything shown since the last time, up to this."""
        deadline = time.monotonic() + SECONDS
        while text not in self.shown:
            ready, _, _ = select.select([self._near], [], [], 0.2)
            assert time.monotonic() < deadline, f"{text!r} is not shown: {self.shown}"
            if ready:
                self.shown += os.read(self._near, 65536).decode()
        before, _, self.shown = self.shown.partition(text)
        return before + text

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._near)


@pytest.fixture
def key(server: ServerProcess, token: str) -> Generator[str]:
    with SyncInterlock(server.url, token=token) as person:
        made = person.create_key("terminal")
        yield made.key
        person.revoke_key(made.id)


@contextmanager
def terminal(
    server: ServerProcess, key: str, message: str, *, agent: str = NAME, locale: str = "en"
) -> Generator[Typing]:
    environment = {"INTERLOCK_URL": server.url, "INTERLOCK_KEY": key, "MESSAGE": message, "AGENT": agent}
    typing = Typing({**environment, "LOCALE": locale})
    try:
        yield typing
    finally:
        typing.close()


def test_only_y_is_yes(server: ServerProcess, key: str) -> None:
    with terminal(server, key, approval("send_note", path="a")) as typing:
        shown = typing.until("(y/n): ")
        assert "send_note" in shown
        assert '"path": "a"' in shown
        for nothing in ("\n", "   \n", "yes\n", "\x1b[A\n"):
            typing.type(nothing)
            typing.until("Type 'y' or 'n'")
            typing.until("(y/n): ")
        typing.type("y\n")
        assert "send_note accept" in typing.until(">")
        assert typing.process.wait(SECONDS) == 0


def test_n_is_no(server: ServerProcess, key: str) -> None:
    with terminal(server, key, approval("send_note"), locale="") as typing:
        assert "工具执行确认" in typing.until("是否确认执行? (y/n): ")
        typing.type("n\n")
        assert "send_note reject {} 用户拒绝执行" in typing.until(">")


@pytest.mark.parametrize("risk", ["high", "critical"])
def test_what_is_of_high_risk_is_typed_out(server: ServerProcess, key: str, risk: str) -> None:
    with terminal(server, key, approval("drop_table", risk)) as typing:
        for no_name in ("\n", "y\n", "drop\n"):
            typing.until("to refuse: ")
            typing.type(no_name)
        typing.until("to refuse: ")
        typing.type("drop_table\n")
        assert "drop_table accept" in typing.until(">")


def test_nothing_in_it_is_hidden(server: ServerProcess, key: str) -> None:
    hostile = approval("show", path="\x1b[2Ksafe\u202etxt.exe\u200b", note="\r\x07over")
    with terminal(server, key, hostile) as typing:
        shown = typing.until("(y/n): ")
        assert "\\u001b[2Ksafe\\u202etxt.exe\\u200b" in shown
        assert "\\r\\u0007over" in shown
        assert not {"\x1b", "\u202e", "\u200b", "\x07"} & set(shown)
        typing.type("n\n")
        typing.until(">")


def test_one_question_comes_after_the_other(server: ServerProcess, key: str) -> None:
    with terminal(server, key, approvals("one", "two")) as typing:
        assert "one" in typing.until("(y/n): ")
        typing.type("y\n")
        assert "two" in typing.until("(y/n): ")
        typing.type("n\n")
        assert "one accept {}; two reject {}" in typing.until(">")


def test_other_questions_are_answered_too(server: ServerProcess, key: str) -> None:
    message = script(
        calls(("request_clarification", {"question": "Which colour?", "options": ["red", "blue"]})),
        calls(("request_decision", {"title": "Now?", "options": [{"key": "k1", "label": "Yes"}], "risks": ["Noise"]})),
        calls(("request_env_vars", {"fields": [{"name": "TOKEN"}]})),
        calls(("ask_user", {"questions": [{"question": "Who?"}]})),
    )
    with terminal(server, key, message, agent="puppet") as typing:
        assert "Which colour?" in typing.until("> ")
        typing.type("2\n")
        assert "! Noise" in typing.until("> ")
        typing.type("none of it\n")
        typing.until("Choose one of the options")
        typing.until("> ")
        typing.type("1\n")
        typing.until("TOKEN")
        typing.until("> ")
        typing.type("s3cret\n")
        shown = typing.until("Who?")
        assert "s3cret" not in shown
        typing.until("> ")
        typing.type("me\n")
        said = typing.until(">")
        assert all(word in said for word in ("blue", "k1", "me"))


async def test_the_loop_goes_on_while_nobody_types(
    server: ServerProcess, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed: list[str] = []
    lines = iter(["n", "y"])
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow_input(prompt: str) -> str:
        typed.append(prompt)
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(SECONDS)
        return next(lines)

    monkeypatch.setattr("builtins.input", slow_input)
    sent: list[tuple[str, ConfirmationResponse]] = []

    class Handler(CliConfirmationHandler):
        async def send_confirmation(self, step_id: str, response: ConfirmationResponse) -> None:
            sent.append((step_id, response))

    handler = Handler(server.url, token=token, locale="en")
    first = asyncio.create_task(handler.on_confirmation_requested(ConfirmationRequest("s1", "", "one", "", {})))
    await until(_counted(typed), lambda count: count == 1)
    # The question ends without an answer; the line that is being typed must not answer the next one.
    first.cancel()
    second = asyncio.create_task(handler.on_confirmation_requested(ConfirmationRequest("s2", "", "two", "", {})))
    await asyncio.gather(first, return_exceptions=True)
    gate.set()
    await within(second)
    assert [(step_id, response.confirmed) for step_id, response in sent] == [("s2", True)]
    assert len(typed) == 2


def _counted(items: list[str]):
    async def count() -> int:
        return len(items)

    return count


async def test_a_closed_input_decides_nothing(
    server: ServerProcess, token: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def closed(_prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", closed)
    handler = CliConfirmationHandler(server.url, token=token, locale="en")
    await within(handler.on_confirmation_requested(ConfirmationRequest("s1", "", "one", "", {})))
    assert "still waits" in capsys.readouterr().out
