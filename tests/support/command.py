"""The command as a user runs it: a process of its own, with nothing of ours in its environment but what is given."""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.support.server import ServerProcess
from tests.support.warm import WarmProcess

SECONDS = 60.0


def command(
    *arguments: str, given: str = "", variables: Mapping[str, str] | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `interlock ARGUMENTS`; `variables` are INTERLOCK_ ones, without that and in lower case."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
    environment |= {f"INTERLOCK_{name.upper()}": value for name, value in (variables or {}).items()}
    with tempfile.TemporaryDirectory() as aside:
        given_to, stdout, stderr = (Path(aside) / name for name in ("stdin", "stdout", "stderr"))
        given_to.write_text(given)
        process = WarmProcess(arguments, environment, stdout, stderr, given_to, folder)
        try:
            code = process.wait(SECONDS)
        finally:
            process.kill()
        return subprocess.CompletedProcess(arguments, code, stdout.read_text(), stderr.read_text())


def users(server: ServerProcess, *arguments: str) -> str:
    """Run `interlock users ARGUMENTS` on the server's data, which has to go well."""
    done = command("users", *arguments, *server.where)
    assert done.returncode == 0, done.stderr
    return done.stdout
