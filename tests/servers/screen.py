"""A screen that nobody sees, for tests of windows: Xvfb on a free display, and xdotool for what a person would do.

As root the Debian packages are installed where they are missing; otherwise the tests fail and name them.
"""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.servers.debian import CannotStart, install_missing

PACKAGES = {"Xvfb": "xvfb", "xdotool": "xdotool"}
SECONDS = 60.0


@dataclass(frozen=True)
class Screen:
    display: str

    @property
    def environment(self) -> dict[str, str]:
        return {"DISPLAY": self.display}

    def do(self, *arguments: str) -> str:
        """Let xdotool do something; what it says."""
        done = subprocess.run(
            ["xdotool", *arguments],
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return done.stdout.strip()


@contextmanager
def screen() -> Generator[Screen]:
    install_missing(PACKAGES, "the tests of windows")
    reading, writing = os.pipe()
    process = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x1024x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=[writing],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            number = told.readline().strip()
        if not number:
            raise CannotStart("Xvfb did not start")
        yield Screen(f":{number}")
    finally:
        process.terminate()
        process.wait(SECONDS)
