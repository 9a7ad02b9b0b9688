"""The receiver of the how-to on webhooks, run as it stands, told by a real server."""

import os
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

import httpx
import pytest

from tests.examples.readme import ROOT, Readme
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for

HOW_TO = Readme((ROOT / "docs" / "how-to" / "webhooks.md").read_text())
SECONDS = 60.0


@pytest.fixture
def server(tmp_path: Path) -> Generator[ServerProcess]:
    allowed = {"INTERLOCK_WEBHOOK_HOSTS": "127.0.0.1", "INTERLOCK_WEBHOOK_PRIVATE": "on"}
    process = ServerProcess(tmp_path / "data", environment=allowed)
    try:
        yield process.start()
    finally:
        process.close()


@contextmanager
def listening(secret: str, port: int) -> Generator["Queue[str]"]:
    """The receiver of the document; what it prints."""
    environment = {**os.environ, "SECRET": secret, "PORT": str(port)}
    process = subprocess.Popen(
        [sys.executable, "-c", HOW_TO.block("python")],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    lines: Queue[str] = Queue()
    output = process.stdout
    reading = Thread(target=lambda: [lines.put(line) for line in output], daemon=True)
    reading.start()
    try:
        wait_for(lambda: is_open(port), bool)
        yield lines
    finally:
        process.kill()
        process.wait()
        reading.join(SECONDS)
        output.close()


def is_open(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def test_the_receiver_has_fifteen_lines() -> None:
    assert len([line for line in HOW_TO.block("python").splitlines() if line]) <= 15


def test_the_receiver_takes_what_the_server_signed_and_nothing_else(server: ServerProcess) -> None:
    root = ThreadsClient(server.url, "root").sign_in()
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    made = root.http.post("/api/v1/webhooks", json={"url": url, "events": ["request.asked"]}).raise_for_status().json()
    with listening(made["secret"], port) as lines:
        forged = {"Interlock-Signature": "t=1700000000,v1=00", "Interlock-Event": "request.asked"}
        assert httpx.post(url, content=b"{}", headers=forged, trust_env=False, timeout=60).status_code == 401
        thread_id = root.new_thread()
        root.chat(thread_id, "create hello.py")
        line = lines.get(timeout=SECONDS)
        assert line.startswith("request.asked dlv_")
        assert thread_id in line
        with pytest.raises(Empty):
            lines.get_nowait()
    root.http.close()
