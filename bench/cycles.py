"""Ask, answer and resume: served against called directly, and on the whole stack against one process."""

import asyncio
import statistics
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import direct, served
from bench.stores import durable_postgres
from bench.table import Row, Table
from tests.cluster.looking import wait_for_workers
from tests.servers.ray import ON_LOOPBACK
from tests.servers.redis import redis
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

AGENT = f"bench={Path(__file__).parent / 'agent.py'}:build"
ROUNDS = 3
"""The two sides take turns, so that whatever else the machine does falls on both."""

Measure = Callable[[int, int], tuple[list[float], float]]
"""With so many threads and so many cycles in each: the seconds of each cycle, and cycles a second."""


@dataclass(frozen=True, slots=True)
class Sizes:
    alone: int = 60
    threads: int = 32
    each: int = 6


SMALL = Sizes(alone=9, threads=4, each=2)


def against_direct(table: Table, folder: Path, sizes: Sizes) -> None:
    with _serving(ServerProcess(folder / "served", agents=[AGENT])) as ours:
        compared = _compare(ours, _directly(folder), sizes)
    alone, base, rate, base_rate = compared
    table.add(Row("cycle", "1 thread, median", alone, base, "ms", "direct", "1.5 at the most"))
    table.add(Row("cycle", f"{sizes.threads} threads at once", rate, base_rate, "/s", "direct", "0.8 at the least"))


def stack_against_embedded(table: Table, folder: Path, sizes: Sizes) -> None:
    """PostgreSQL, Redis and workers of Ray, against one process on SQLite."""
    embedded = ServerProcess(folder / "embedded", agents=[AGENT])
    with durable_postgres() as postgres, redis() as bus, postgres.fresh_database() as url:
        environment = {"INTERLOCK_BUS": bus.url, "INTERLOCK_RUNNER": "ray", **ON_LOOPBACK}
        stack = ServerProcess(folder / "stack", agents=[AGENT], database=url, environment=environment)
        with _serving(embedded) as base, _serving(stack) as ours:
            wait_for_workers(stack)
            alone, base_alone, rate, base_rate = _compare(ours, base, sizes)
    table.add(Row("stack", "1 thread, median", alone, base_alone, "ms", "embedded"))
    table.add(Row("stack", f"{sizes.threads} threads at once", rate, base_rate, "/s", "embedded"))


def _compare(ours: Measure, base: Measure, sizes: Sizes) -> tuple[float, float, float, float]:
    """Of each side the median of one cycle in milliseconds, and how many a second there are at once."""
    times: tuple[list[float], list[float]] = ([], [])
    rates: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for side, measure in enumerate((base, ours)):
            times[side].extend(measure(1, sizes.alone // ROUNDS)[0])
    for _ in range(ROUNDS):
        for side, measure in enumerate((base, ours)):
            rates[side].append(measure(sizes.threads, sizes.each)[1])
    base_time, time_ = (statistics.median(each) * 1000 for each in times)
    base_rate, rate = (statistics.median(each) for each in rates)
    return time_, base_time, rate, base_rate


@contextmanager
def _serving(server: ServerProcess) -> Generator[Measure]:
    try:
        client = ThreadsClient(server.start().url).sign_in()
        yield lambda threads, cycles: _timed(served.measure(server, client, threads, cycles))
    finally:
        server.close()


def _directly(folder: Path) -> Measure:
    made = 0

    def measure(threads: int, cycles: int) -> tuple[list[float], float]:
        nonlocal made
        made += 1
        inner = folder / f"direct-{made}"
        inner.mkdir()
        return _timed(direct.measure(inner, threads, cycles))

    return measure


def _timed(work: Coroutine[Any, Any, list[float]]) -> tuple[list[float], float]:
    started = time.perf_counter()
    times = asyncio.run(work)
    return times, len(times) / (time.perf_counter() - started)
