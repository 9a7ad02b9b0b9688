"""Programs that tests need and PyPI does not have: Debian's, installed as root where they are missing."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

INSTALL_SECONDS = 600.0


class CannotStart(Exception):
    """The tests that need such a program cannot run."""


def install_missing(packages: Mapping[str, str], purpose: str) -> None:
    """`packages` by the program or file that each brings; who is not root is told their names."""
    missing = [package for name, package in packages.items() if not (shutil.which(name) or Path(name).exists())]
    if not missing:
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise CannotStart(f"install the Debian packages {' '.join(missing)}: {purpose} need them")
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
