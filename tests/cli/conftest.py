"""The command as a user runs it: a process of its own, with nothing of ours in its environment."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Interlock = Callable[..., subprocess.CompletedProcess[str]]

SECONDS = 60.0


@pytest.fixture
def interlock(tmp_path: Path) -> Interlock:
    """Run `interlock ARGUMENTS` in an empty folder; keywords are INTERLOCK_ variables."""

    def run(*arguments: str, given: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
        environment |= {f"INTERLOCK_{name.upper()}": value for name, value in variables.items()}
        return subprocess.run(
            [sys.executable, "-m", "interlock", *arguments],
            cwd=tmp_path,
            env=environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    return run
