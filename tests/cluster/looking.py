"""What a cluster says of itself, and the processes behind it."""

import json
from typing import Any

from typer.testing import CliRunner

from interlock_client.cli.main import app
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for

START_SECONDS = 240.0


def cluster(node: ServerProcess) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["cluster", "status", "--json", *node.where], env=dict(node.environment))
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def alive(node: ServerProcess) -> list[dict[str, Any]]:
    return [worker for worker in cluster(node)["workers"] if worker["alive"]]


def holder(node: ServerProcess, thread: str) -> str:
    """The worker that runs a thread."""
    (lease,) = [one for one in cluster(node)["leases"] if one["conversation_id"] == thread]
    return lease["worker"]


def pid_of(worker: str) -> int:
    """A worker's name says which process it is."""
    return int(worker.rpartition("_")[0].rpartition("-")[2])


def wait_for_workers(node: ServerProcess, besides: set[str] | None = None, count: int = 2) -> list[dict[str, Any]]:
    """So many that live, none of them one of those that are gone."""
    gone = besides or set()

    def look() -> list[dict[str, Any]]:
        return [worker for worker in alive(node) if worker["id"] not in gone]

    return wait_for(look, lambda found: len(found) >= count, START_SECONDS)
