"""Five hundred sockets of the confirm face that drop and come back while they confirm, every five the same."""

import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.durability.dropping import SHARING
from tests.support import puppet
from tests.support.server import ServerProcess
from tests.support.witness import Witness

SOCKETS = 500
SEED = "2025"


@pytest.fixture
def busy(tmp_path: Path, witness: Witness) -> Generator[ServerProcess]:
    environment = {
        **witness.environment,
        "INTERLOCK_RATE_LIMIT": "100000",
        "INTERLOCK_RATE_BURST": "100000",
        "INTERLOCK_STREAMS_PER_CALLER": "100000",
        "INTERLOCK_CONFIRMATION_TIMEOUT": "600",
    }
    process = ServerProcess(tmp_path / "data", agents=[puppet.SPEC], auth="none", environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


def test_every_confirmation_is_settled_once_and_no_event_is_lost(busy: ServerProcess, witness: Witness) -> None:
    address = busy.url.replace("http", "ws")
    command = [sys.executable, "-m", "tests.durability.dropping", address, str(SOCKETS), SEED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:] + busy.log.read_text()[-4000:]
    lives = json.loads(done.stdout)
    assert len({life["session_id"] for life in lives}) == SOCKETS // SHARING
    for life in lives:
        assert life["told"] == life["whole"]
    for session in {life["session_id"] for life in lives}:
        assert len({step for life in lives if life["session_id"] == session for step in life["steps"]}) == 2
    assert sum(life["drops"] for life in lives) > SOCKETS
    names = [name for life in lives for name in life["names"]]
    assert {name: witness.count(name) for name in names} == dict.fromkeys(names, 1)
    assert "Traceback" not in busy.log.read_text()
