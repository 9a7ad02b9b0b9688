"""`interlock ARGUMENTS`, forked from a process that has imported all it needs, in the way of `subprocess.Popen`."""

import atexit
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

WARM_SECONDS = 300.0
LIMITS = ("RLIMIT_NOFILE", "RLIMIT_FSIZE")
"""What a process takes over from the test that starts it."""


class WarmProcess:
    """One process; it is a child of the warm one, which tells how it ended."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        stdout: Path,
        stderr: Path,
        stdin: Path | None = None,
        folder: Path | None = None,
    ) -> None:
        self.returncode: int | None = None
        self._told = b""
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(_warm_process())
        asked = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "stdout": str(stdout),
            "stderr": str(stderr),
            "stdin": str(stdin or os.devnull),
            "folder": str(folder or Path.cwd()),
            "limits": {name: resource.getrlimit(getattr(resource, name)) for name in LIMITS},
        }
        self._connection.sendall(json.dumps(asked).encode() + b"\n")
        self.pid = int(self._line(WARM_SECONDS) or 0)
        assert self.pid, "the warm process has ended"

    def poll(self) -> int | None:
        return self._ended(0.0)

    def wait(self, timeout: float) -> int:
        ended = self._ended(timeout)
        if ended is None:
            raise subprocess.TimeoutExpired("interlock", timeout)
        return ended

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _ended(self, seconds: float) -> int | None:
        if self.returncode is None:
            line = self._line(seconds)
            if line is not None:
                self.returncode = int(line)
                self._connection.close()
        return self.returncode

    def _line(self, seconds: float) -> str | None:
        """The next line, or none within that time."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._told:
            self._connection.settimeout(max(deadline - time.monotonic(), 0.000_1))
            try:
                received = self._connection.recv(100)
            except TimeoutError:
                return None
            assert received, "the warm process has ended"
            self._told += received
        line, _, self._told = self._told.partition(b"\n")
        return line.decode()


@cache
def _warm_process() -> str:
    """The address of the one that this test process has."""
    folder = tempfile.mkdtemp(prefix="warm-")
    address = f"{folder}/socket"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
    environment |= {"PYTHONPYCACHEPREFIX": f"{sys.prefix}/pycache"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.warm_process", address],
        env=environment,
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
    )

    def end() -> None:
        process.kill()
        process.wait()
        Path(address).unlink(missing_ok=True)
        Path(folder).rmdir()

    atexit.register(end)
    deadline = time.monotonic() + WARM_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "the warm process did not start"
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(address) == 0:
                probe.sendall(b"\n")
                return address
        time.sleep(0.02)
    raise AssertionError("the warm process did not come up")
