"""A Ray cluster of several nodes on this machine, kept by a process of its own.

`python -m tests.servers.ray` starts a head that runs no workers, prints its address, and starts another node for each
line it reads; it ends, and its nodes with it, when there is nothing more to read.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

START_SECONDS = 120.0
ON_LOOPBACK = {
    "RAY_AUTH_MODE": "disabled",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # Else they come after everything else on the machine, and take minutes to import an agent while other tests run.
    "RAY_worker_niceness": "0",
}
"""For whoever starts or joins a cluster; without it, Ray takes another address of the machine for 127.0.0.1."""

_QUICK_TO_NOTICE = {
    "health_check_initial_delay_ms": 1_000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1_000,
    "health_check_failure_threshold": 2,
}
_SMALL = {"node_ip_address": "127.0.0.1", "object_store_memory": 80 * 1024 * 1024}


def _serve() -> None:
    from ray import cluster_utils

    cluster: Any = cast("Any", cluster_utils).Cluster(
        initialize_head=True,
        head_node_args={
            **_SMALL,
            "num_cpus": 0,
            "include_dashboard": False,
            "_system_config": _QUICK_TO_NOTICE,
        },
    )
    threading.Thread(target=_reap, args=(cluster,), daemon=True).start()
    _say(cluster.address)
    for _ in sys.stdin:
        cluster.add_node(num_cpus=1, **_SMALL)
        _say("added")
    cluster.shutdown()


def _reap(cluster: Any) -> None:
    """Workers end with their node's keeper, unless its body still stands there."""
    while True:
        for node in cluster.list_all_nodes():
            for started in node.all_processes.values():
                for one in started:
                    one.process.poll()
        time.sleep(0.2)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class RayNodes:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.address = self._told()

    def add(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("add\n")
        self._process.stdin.flush()
        assert self._told() == "added"

    def _told(self) -> str:
        assert self._process.stdout is not None
        # What Ray itself prints comes between.
        for line in self._process.stdout:
            if line.startswith(("127.0.0.1:", "added")):
                return line.strip()
        raise AssertionError("the Ray cluster ended")


def is_running(process: int) -> bool:
    """Whether it lives; one that is dead may stand there until somebody takes notice."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def node_of(worker: int) -> int:
    """The process that keeps the node on which a worker runs."""
    return int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1])


def processes_of(node: int) -> list[int]:
    """A node's keeper and all that it started."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if node_of(int(entry.name)) == node:
                    found.append(int(entry.name))
    return [node, *found]


def command_of(process: int) -> str:
    return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")


def cut_off(node: int) -> None:
    """As when a machine loses its power: everything on it ends at once."""
    for process in processes_of(node):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@contextmanager
def ray_nodes(environment: Mapping[str, str], folder: Path) -> Generator[RayNodes]:
    with (folder / "ray.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.ray"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, **environment, **ON_LOOPBACK},
            start_new_session=True,
        )
    try:
        yield RayNodes(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(START_SECONDS)
        assert process.stdout is not None
        process.stdout.close()


if __name__ == "__main__":
    _serve()
