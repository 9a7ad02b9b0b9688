"""Programs that tests need and PyPI does not have: Debian's, installed as root where they are missing."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

INSTALL_SECONDS = 600.0


class CannotStart(Exception):
    """The tests that need such a program cannot run."""


def install_missing(packages: Mapping[str, str], purpose: str) -> None:
    """`packages` by the program or file that each brings; who is not root is told their names."""
    if not _missing(packages):
        return
    # Two test processes may find out at the same moment, and only one of them may install.
    with (Path(tempfile.gettempdir()) / "interlock-tests-debian.lock").open("w") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)
        if missing := _missing(packages):
            _install(missing, purpose)


def _missing(packages: Mapping[str, str]) -> list[str]:
    return [package for name, package in packages.items() if not (shutil.which(name) or Path(name).exists())]


def _install(missing: list[str], purpose: str) -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise CannotStart(f"install the Debian packages {' '.join(missing)}: {purpose} need them")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "-q", "update"],
        ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=300", "install", "-y", "--no-install-recommends", *missing],
    ):
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
        if done.returncode != 0 and "install" in command:
            raise CannotStart(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
