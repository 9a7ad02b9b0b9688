"""What is typed at a prompt for a password is never shown, from its first character on."""

import os
import subprocess
import sys
import termios
from pathlib import Path
from select import select

import pytest

from tests.support.server import ServerProcess

ECHO_FIELD = 3


@pytest.mark.parametrize(
    ("arguments", "prompt"),
    [
        (["login", "--with-key", "--url", "http://127.0.0.1:9"], b"API key"),
        (["answer", "env_1", "--value", "A_NAME", "--url", "http://127.0.0.1:9"], b"A_NAME"),
        (["users", "create", "ann"], b"Password"),
    ],
    ids=["login with a key", "answer", "users create"],
)
def test_a_prompt_appears_once_nothing_typed_is_shown(tmp_path: Path, arguments: list[str], prompt: bytes) -> None:
    assert not _is_echoed_at(prompt, arguments, tmp_path)


def test_the_prompt_for_a_password_appears_once_nothing_typed_is_shown(live: ServerProcess, tmp_path: Path) -> None:
    """Before it, the server is asked whether it takes passwords."""
    assert not _is_echoed_at(b"Password", ["login", "--user", "ann", "--url", live.url], tmp_path)


def _is_echoed_at(prompt: bytes, arguments: list[str], folder: Path) -> bool:
    ours, theirs = os.openpty()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
    # A session of its own: it must not ask at the terminal that runs the tests.
    process = subprocess.Popen(
        [sys.executable, "-m", "interlock", *arguments],
        env=environment | {"XDG_CONFIG_HOME": str(folder)},
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    try:
        printed = b""
        while prompt[:1] not in printed:
            assert select([ours], [], [], 60)[0], f"it printed only {printed!r}"
            printed += os.read(ours, 1)
        return bool(termios.tcgetattr(theirs)[ECHO_FIELD] & termios.ECHO)
    finally:
        process.kill()
        process.wait(30)
        os.close(ours)
        os.close(theirs)
