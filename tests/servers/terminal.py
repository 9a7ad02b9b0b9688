"""A real terminal for the tests: tmux, from Debian's package `tmux`, on a socket of its own.

Where it is missing it is installed, for which one has to be root; a terminal that cannot be had fails the tests.
"""

import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Self, TypeVar

from tests.servers.debian import install_missing

T = TypeVar("T")

WAIT_SECONDS = 60.0
_SETTINGS = (
    "set -g remain-on-exit on\nset -s escape-time 0\nset -g status off\nset -g default-terminal screen-256color\n"
)


@cache
def _tmux() -> str:
    install_missing({"tmux": "tmux"}, "the tests in a terminal")
    return shutil.which("tmux") or "tmux"


class Terminal:
    """One program in a terminal of 80 columns and 24 rows."""

    def __init__(
        self, command: Sequence[str], folder: Path, environment: Mapping[str, str], size: tuple[int, int] = (80, 24)
    ) -> None:
        self._socket = folder / "tmux"
        self._ended = folder / "exit-code"
        settings = folder / "tmux.conf"
        settings.write_text(_SETTINGS)
        columns, rows = size
        self._tmux(
            [
                "-u",
                "-f",
                str(settings),
                "new-session",
                "-d",
                "-x",
                str(columns),
                "-y",
                str(rows),
                *self._noted(command),
            ],
            {"LANG": "C.UTF-8", **environment},
        )

    def _noted(self, command: Sequence[str]) -> list[str]:
        """The command, and then a note of its exit code, which tmux itself now and then misses."""
        return ["sh", "-c", '"$@"; echo $? > "$0"', str(self._ended), *command]

    def _tmux(self, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(
            [_tmux(), "-S", str(self._socket), *arguments],
            env=None if environment is None else dict(environment),
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
        )
        assert done.returncode == 0, f"tmux {arguments}: {done.stderr}"
        return done.stdout

    def screen(self, *, styled: bool = False) -> str:
        return self._tmux(["capture-pane", "-p", *(["-e"] if styled else [])])

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: Enter, C-s, Escape, a."""
        self._tmux(["send-keys", *keys])

    def type(self, text: str) -> None:
        self._tmux(["send-keys", "-l", text])

    def sees(self, text: str) -> str:
        """The screen, once it shows the text."""
        return self._wait(self.screen, lambda screen: text in screen, f"no {text!r} on the screen")

    def sees_no(self, text: str) -> str:
        return self._wait(self.screen, lambda screen: text not in screen, f"still {text!r} on the screen")

    def waits_at(self, *prompts: str) -> str:
        """What stands before the cursor, once it is a prompt that ends so, with nothing typed.

        A prompt for what is not shown ends with a space: without it what is typed is still shown, and then forgotten.
        """

        def is_there(line: str) -> bool:
            return any(line.endswith(one) if one.endswith(" ") else line.rstrip().endswith(one) for one in prompts)

        return self._wait(lambda: self._cursor()[1], is_there, f"no prompt {prompts!r} at the cursor")

    def enter(self, text: str) -> None:
        """Type a line. Once this returns the prompt has taken it: a prompt that is waited for next is another one."""
        before, _ = self._cursor()
        self.type(text)
        self.press("Enter")
        self._wait(lambda: self._cursor()[0], lambda line: line > before, f"{text!r} was not taken")

    def _cursor(self) -> tuple[int, str]:
        """The number of its line, counted from the first that ever was, and what stands before it there."""
        where = ["display-message", "-p", "#{history_size} #{cursor_y} #{cursor_x}"]
        position, *lines = self._tmux([*where, ";", "capture-pane", "-p"]).split("\n")
        gone, row, column = map(int, position.split())
        return gone + row, lines[row].ljust(column)[:column]

    def exit_code(self) -> int:
        """Of the program, once it has ended."""

        def look() -> str:
            return self._ended.read_text() if self._ended.exists() else ""

        return int(self._wait(look, lambda text: text.endswith("\n"), "the program still runs"))

    def _wait(self, look: Callable[[], T], is_right: Callable[[T], bool], failure: str) -> T:
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            seen = look()
            if is_right(seen):
                return seen
            assert time.monotonic() < deadline, f"{failure}:\n{self.screen()}"
            time.sleep(0.05)

    def close(self) -> None:
        subprocess.run([_tmux(), "-S", str(self._socket), "kill-server"], capture_output=True, timeout=WAIT_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
