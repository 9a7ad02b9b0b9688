"""A screen that nobody sees, for tests of windows: Xvfb on a free display, and xdotool for what a person would do.

As root the Debian packages are installed where they are missing; otherwise the tests fail and name them.
"""

import os
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

PACKAGES = {"Xvfb": "xvfb", "xdotool": "xdotool"}
INSTALL_SECONDS = 300.0
SECONDS = 20.0


class CannotStart(Exception):
    """The tests that need a screen cannot run."""


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
    _install_missing()
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


def _install_missing() -> None:
    missing = [package for program, package in PACKAGES.items() if shutil.which(program) is None]
    if not missing:
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise CannotStart(f"install the Debian packages {' '.join(missing)}: the tests of windows need them")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "-q", "update"],
        ["apt-get", "-q", "install", "-y", "--no-install-recommends", *missing],
    ):
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
        if done.returncode != 0 and "install" in command:
            raise CannotStart(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
