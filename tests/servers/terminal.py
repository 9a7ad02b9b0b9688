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

WAIT_SECONDS = 30.0
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

    def waits_at(self, prompt: str) -> str:
        """The screen, once its last line is a prompt with nothing typed."""

        def is_there(screen: str) -> bool:
            return screen.rstrip().endswith(prompt)

        return self._wait(self.screen, is_there, f"no prompt {prompt!r} at the end of the screen")

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
