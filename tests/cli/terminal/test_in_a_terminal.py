"""The real program in a real terminal of 80 columns and 24 rows."""

import os
import re
import sys
import unicodedata
from collections.abc import Callable, Generator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.cli.terminal.driving import Asker
from tests.servers.terminal import Terminal
from tests.support.hitl import HitlClient
from tests.support.puppet import calls, gate, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness

Opened = Callable[..., Terminal]


@pytest.fixture
def opened(server: ServerProcess, key: str, tmp_path: Path) -> Generator[Opened]:
    """`interlock ARGUMENTS` in a terminal."""
    with ExitStack() as stack:

        def run(*arguments: str, **more: str) -> Terminal:
            environment = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
            environment |= {"INTERLOCK_URL": server.url, "INTERLOCK_KEY": key, **more}
            command = [sys.executable, "-m", "interlock", *arguments]
            return stack.enter_context(Terminal(command, tmp_path, environment))

        yield run


def test_a_server_shows_the_link_to_sign_in_last_and_its_log_as_lines_for_people(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
    command = [sys.executable, "-m", "interlock", "serve", "--port", "0", "--data", str(tmp_path / "data")]
    with Terminal(command, tmp_path, environment, size=(250, 24)) as terminal:
        screen = terminal.sees("/login#once=")
        assert "/login#once=" in screen.rstrip().splitlines()[-1]
        terminal.press("C-c")
        screen = terminal.sees("shutting down")
        assert re.search(r"[0-9:]{8} info +shutting down", screen), screen


def is_safe(screen: str) -> bool:
    return all(one == "\n" or unicodedata.category(one)[0] != "C" for one in screen)


def test_the_inbox_starts_shows_a_request_takes_its_answer_and_ends(opened: Opened, asker: Asker) -> None:
    asked = asker.approval()
    terminal = opened("inbox")
    terminal.sees("file_delete")
    terminal.press("Enter")
    screen = terminal.sees("a approve")
    assert screen.index("WHAT WILL RUN") < screen.index('"/tmp/a.txt"')
    _until_it_takes(terminal, "a", "Allow file_delete, exactly as shown?")
    _until_it_takes(terminal, "a", "✓ approved")
    terminal.press("Escape")
    terminal.sees("Nothing waits")
    terminal.press("q")
    assert terminal.exit_code() == 0
    assert asker.response_to(asked) == {"granted": True}


def _until_it_takes(terminal: Terminal, key: str, text: str) -> None:
    """Press until it is heeded: keys right after something came up are not."""

    def press() -> str:
        screen = terminal.screen()
        if text not in screen:
            terminal.press(key)
        return screen

    wait_for(press, lambda screen: text in screen)


def _until_it_is_typed(terminal: Terminal, text: str) -> None:
    """Type it, and once more where the first letters came too early: what is typed last is then all that is there."""
    for _ in range(5):
        terminal.press("C-u")
        terminal.type(text)
        with suppress(AssertionError):
            wait_for(terminal.screen, lambda screen: f" {text}\n" in screen, seconds=4.0)
            return
    terminal.sees(f" {text}\n")


def test_a_risky_call_needs_the_typed_word(opened: Opened, asker: Asker, person: HitlClient) -> None:
    asked = asker.approval(risk_level="high")
    terminal = opened("inbox")
    terminal.sees("▲ HIGH")
    terminal.press("Enter")
    terminal.sees("a approve")
    _until_it_takes(terminal, "a", "type YES or file_delete in full")
    terminal.press("Enter", "C-s")
    terminal.sees("That is not it")
    assert person.look(asked)["status"] == "pending"
    _until_it_is_typed(terminal, "file_delete")
    _until_it_takes(terminal, "C-s", "✓ approved")
    assert asker.response_to(asked) == {"granted": True}


def test_what_would_steer_the_terminal_is_shown_escaped(opened: Opened, asker: Asker) -> None:
    asker.approval(args={"path": "/tmp/\u202ecod.exe", "\x1b]0;owned\x07": "\x1b[2J"}, description="\x1b[31mred\u200b")
    terminal = opened("inbox")
    terminal.sees("/tmp/\\u202")
    terminal.press("Enter")
    screen = terminal.sees('"/tmp/\\u202ecod.exe"')
    assert "\\x1b]0;owned\\x07" in screen
    assert "\\x1b[31mred\\u200b" in screen
    assert is_safe(screen)


def test_arguments_are_edited_in_ones_own_editor(opened: Opened, asker: Asker, tmp_path: Path) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import sys, pathlib\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "assert file.stat().st_mode & 0o077 == 0\n"
        "file.write_text(file.read_text().replace('a.txt', 'b.txt'))\n"
    )
    asked = asker.approval()
    terminal = opened("inbox", EDITOR=f"{sys.executable} {editor}", VISUAL="")
    terminal.sees("file_delete")
    terminal.press("Enter")
    terminal.sees("a approve")
    _until_it_takes(terminal, "e", "with these arguments instead?")
    screen = terminal.sees('+   "path": "/tmp/b.txt"')
    assert '-   "path": "/tmp/a.txt"' in screen
    _until_it_takes(terminal, "a", "✓ approved, edited")
    assert asker.response_to(asked) == {"granted": True, "args": {"path": "/tmp/b.txt"}}


def test_a_chat_streams_shows_tools_and_asks_in_place(
    opened: Opened, owner: ThreadsClient, witness: Witness, tmp_path: Path
) -> None:
    terminal = opened("chat")
    terminal.sees("you>")
    name = f"chat-{owner.username}"
    terminal.type(script(calls(("guarded", {"name": name}), say=["one ", gate(name), "two"])))
    terminal.press("Enter")
    terminal.sees("\none")
    witness.release(name)
    terminal.sees("guarded wants to run")
    terminal.sees("yes | no [reason]")
    terminal.press("Enter", "Enter")
    terminal.type("maybe")
    terminal.press("Enter")
    terminal.sees("Not understood")
    assert witness.count(name) == 0
    terminal.type("yes")
    terminal.press("Enter")
    terminal.sees(f"guarded success: done {name}")
    assert witness.count(name) == 1
    terminal.waits_at("you>")
    terminal.press("C-d")
    assert terminal.exit_code() == 0
