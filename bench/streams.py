"""Open streams on one server process: what each costs, and how long an event takes to reach all of them."""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from bench.table import Row, Table
from tests.support.hitl import HITL, QUESTION, data_of
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

FEW = 100
SMALL = 600
KEPT_FREE = 2_000
"""Open files of the server that are not streams, and some to spare."""
PROCESSES = 4
EVENTS = 5
UNBOUNDED = {
    "INTERLOCK_STREAMS_PER_CALLER": "1000000",
    "INTERLOCK_CONNECTIONS_PER_ADDRESS": "1000000",
    "INTERLOCK_RATE_LIMIT": "1000000",
    "INTERLOCK_RATE_BURST": "1000000",
    # With so many readers on two cores, a reader that is slow is the machine's fault.
    "INTERLOCK_SLOW_SECONDS": "300",
}


def most() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] - KEPT_FREE


def against_few(table: Table, folder: Path, many: int) -> None:
    """With so many streams, or as many as can be opened in a few minutes."""
    server = ServerProcess(folder / "streams", environment=UNBOUNDED)
    client = ThreadsClient(server.start().url).sign_in()
    asker = Asker(client)
    try:
        bare = _memory(server)
        with followers(server, client, asker.thread, FEW) as (few, _):
            few_memory = (_memory(server) - bare) / FEW
            few_time = _fan_out(few, asker)
        bare = _memory(server)
        with followers(server, client, asker.thread, many) as (all_of_them, many):
            memory = (_memory(server) - bare) / many
            time_ = _fan_out(all_of_them, asker)
    finally:
        server.close()
    table.add(Row("streams", f"memory of each of {many:,}", memory, few_memory, "KiB", f"{FEW}"))
    table.add(Row("streams", f"an event to all of {many:,}", time_, few_time, "ms", f"{FEW}"))
    table.add(
        Row("streams", f"an event to all of {many:,}, each", 1000 * time_ / many, 1000 * few_time / FEW, "µs", f"{FEW}")
    )


class Asker:
    """Puts one question after the other on one thread, which all who follow it are shown."""

    def __init__(self, client: ThreadsClient) -> None:
        self._http = httpx.Client(base_url=client.http.base_url, headers=client.http.headers, timeout=300.0)
        self._asked = 0
        self.thread = ""
        self.thread = self.ask()[1]

    def ask(self) -> tuple[str, str]:
        """The word that only this question has, and its thread."""
        self._asked += 1
        word = self.next_word
        asked = {"type": "clarification", "request_data": {**QUESTION, "question": f"What is {word}?"}}
        body = asked | ({"conversation_id": self.thread} if self.thread else {})
        return word, data_of(self._http.post(f"{HITL}/requests", json=body))["conversation_id"]

    @property
    def next_word(self) -> str:
        return f"word-{self._asked:06}"

    @property
    def coming_word(self) -> str:
        return f"word-{self._asked + 1:06}"


def _fan_out(streams: Sequence["subprocess.Popen[str]"], asker: Asker) -> float:
    """Milliseconds from the moment when something is asked until the last of the streams was sent it; the median."""
    times: list[float] = []
    for _ in range(EVENTS):
        for process in streams:
            _tell(process, asker.coming_word)
        for process in streams:
            assert _told(process) == "listening"
        started = time.monotonic()
        asker.ask()
        times.append(max(float(_told(process)) for process in streams) - started)
    return statistics.median(times) * 1000


@contextmanager
def followers(
    server: ServerProcess, client: ThreadsClient, thread: str, count: int
) -> Generator[tuple[list["subprocess.Popen[str]"], int]]:
    """The processes that follow, and how many streams they have open."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.followers", server.url, thread, str(count // PROCESSES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    try:
        for process in processes:
            _tell(process, client.http.headers["authorization"])
        yield processes, sum(int(_told(process)) for process in processes)
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def _tell(process: "subprocess.Popen[str]", line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def _told(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _memory(server: ServerProcess) -> float:
    """What the process has of the machine's memory, in KiB."""
    lines = Path(f"/proc/{server.running.pid}/status").read_text().splitlines()
    (resident,) = [line for line in lines if line.startswith("VmRSS:")]
    return float(resident.split()[1])
