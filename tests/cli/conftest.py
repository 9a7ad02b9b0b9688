"""The command as a user runs it: a process of its own, with nothing of ours in its environment."""

import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.warm import WarmProcess

Interlock = Callable[..., subprocess.CompletedProcess[str]]

SECONDS = 60.0


@pytest.fixture
def interlock(tmp_path: Path) -> Interlock:
    """Run `interlock ARGUMENTS` in an empty folder; keywords are INTERLOCK_ variables."""

    def run(*arguments: str, given: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
        environment |= {f"INTERLOCK_{name.upper()}": value for name, value in variables.items()}
        with tempfile.TemporaryDirectory() as folder:
            given_to, stdout, stderr = (Path(folder) / name for name in ("stdin", "stdout", "stderr"))
            given_to.write_text(given)
            process = WarmProcess(arguments, environment, stdout, stderr, given_to, tmp_path)
            try:
                code = process.wait(SECONDS)
            finally:
                process.kill()
            return subprocess.CompletedProcess(arguments, code, stdout.read_text(), stderr.read_text())

    return run
