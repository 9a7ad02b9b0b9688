"""`make bench`: ask, answer and resume through HTTP, against the same graph called directly in process."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from bench import direct, served
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

CYCLES_ALONE = 60
THREADS = 32
CYCLES_EACH = 6
ROUNDS = 3
"""The two sides take turns, so that whatever else the machine does falls on both."""


def timed(work: Coroutine[Any, Any, list[float]]) -> tuple[list[float], float]:
    started = time.perf_counter()
    times = asyncio.run(work)
    return times, len(times) / (time.perf_counter() - started)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = ServerProcess(folder / "data", agents=[f"bench={Path(__file__).parent / 'agent.py'}:build"]).start()
        client = ThreadsClient(server.url).sign_in()
        try:
            _alone(folder, server, client)
            _at_once(folder, server, client)
        finally:
            server.close()


def _alone(folder: Path, server: ServerProcess, client: ThreadsClient) -> None:
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(ROUNDS):
        theirs += timed(direct.measure(_folder(folder, f"alone{number}"), 1, CYCLES_ALONE // ROUNDS))[0]
        ours += timed(served.measure(server, client, 1, CYCLES_ALONE // ROUNDS))[0]
    served_ms, direct_ms = statistics.median(ours) * 1000, statistics.median(theirs) * 1000
    print(
        f"1 thread:   served {served_ms:6.1f} ms   direct {direct_ms:6.1f} ms   ratio {served_ms / direct_ms:.2f}"
        "   (aim: 1.5 at the most)"
    )


def _at_once(folder: Path, server: ServerProcess, client: ThreadsClient) -> None:
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(ROUNDS):
        theirs.append(timed(direct.measure(_folder(folder, f"at-once{number}"), THREADS, CYCLES_EACH))[1])
        ours.append(timed(served.measure(server, client, THREADS, CYCLES_EACH))[1])
    rate, base = statistics.median(ours), statistics.median(theirs)
    print(
        f"{THREADS} threads: served {rate:6.1f} /s   direct {base:6.1f} /s   ratio {rate / base:.2f}"
        "   (aim: 0.8 at the least)"
    )


def _folder(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir()
    return made


if __name__ == "__main__":
    main()
