"""A real server process: started, asked, killed and started again as a user or a crash would."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import httpx

from tests.support.http import client as http_client
from tests.support.waiting import WAIT_SECONDS
from tests.support.warm import WarmProcess

START_SECONDS = 60.0
STOP_SECONDS = 60.0
CLOSE_SECONDS = 3.0


def _inherited() -> dict[str, str]:
    """Nothing of Interlock's."""
    return {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}


@dataclass
class ServerProcess:
    """`interlock serve` on a free port of loopback, over one data folder."""

    data: Path
    agents: Sequence[str] = ()
    database: str | None = None
    auth: str = "accounts"
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    failpoints: str = ""
    folder: Path | None = None
    """In which it works; where the tests do, unless it is said."""
    process: WarmProcess | None = None
    url: str = ""
    starts: int = 0
    port: int = 0
    """0: any free one."""

    def start(self, *, failpoints: str | None = None) -> Self:
        """Start and wait until it is ready; with `failpoints` for this start only."""
        arguments = ["serve", "--port", str(self.port), *self.where]
        arguments += ["--auth", self.auth]
        for agent in self.agents:
            arguments += ["--agent", agent]
        self.data.mkdir(parents=True, exist_ok=True)
        self.starts += 1
        environment = _inherited() | {"INTERLOCK_FAILPOINTS": self.failpoints if failpoints is None else failpoints}
        self.output.write_bytes(b"")
        self.process = WarmProcess(
            arguments, environment | dict(self.environment), self.output, self.log, folder=self.folder
        )
        self.url = self._address()
        return self

    @property
    def where(self) -> list[str]:
        """What tells a command of its data."""
        database = ["--database", self.database] if self.database else []
        return ["--data", str(self.data), *database]

    @property
    def output(self) -> Path:
        """What this start printed."""
        return self.data / f"stdout.{self.starts}"

    @property
    def log(self) -> Path:
        """The log of every start."""
        return self.data / "server.log"

    def _address(self) -> str:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            line = self.output.read_text()
            if line.endswith("\n") and "ready at " in line:
                return line.split("ready at ")[1].split(" ")[0]
            if self.running.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"the server did not start: {self.output.read_text()}{self.log.read_text()[-4000:]}")

    @property
    def running(self) -> WarmProcess:
        assert self.process is not None
        return self.process

    def kill(self) -> None:
        """`kill -9`: nothing is told, nothing is flushed."""
        self.running.send_signal(signal.SIGKILL)
        self.running.wait(STOP_SECONDS)

    def wait_until_dead(self, seconds: float = STOP_SECONDS) -> None:
        """A failpoint is to end it; it has to be dead by then."""
        self.running.wait(seconds)
        assert self.running.returncode == -signal.SIGKILL, self.log.read_text()[-4000:]

    def stop(self) -> None:
        """SIGTERM, and wait until it has drained."""
        if self.running.poll() is None:
            self.running.send_signal(signal.SIGTERM)
            self.running.wait(STOP_SECONDS)

    def close(self) -> None:
        """When the tests are done with it: it is not waited for until tools that they held have ended."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(CLOSE_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(STOP_SECONDS)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def client(self, timeout: float = WAIT_SECONDS) -> httpx.Client:
        return http_client(self.url, timeout=timeout)
