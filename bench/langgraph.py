"""LangGraph's own interface: a cycle beside one over the threads face, its search over few and many threads."""

import asyncio
import sqlite3
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from bench import served
from bench.cycles import AGENT, ROUNDS
from bench.pile import FIRST, LAST, OLDER, SERIES
from bench.stores import durable_postgres
from bench.table import Row, Table
from interlock.domain.canonical import canonical_json
from interlock.storage.schema import threads
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

CYCLES, SMALL_CYCLES = 60, 9
SIZES = (10, 1_000_000)
SMALL = (10, 20_000)
SEARCHES = 40
FEW = 5
WANTED: dict[str, tuple[dict[str, Any], int]] = {
    "search, first page": ({"limit": 10}, 10),
    f"search by metadata that {FEW} have": ({"limit": 10, "metadata": {"few": True}}, FEW),
    "search of those that wait, of which there are none": ({"limit": 10, "status": "interrupted"}, 0),
}


def against_threads(table: Table, folder: Path, cycles: int) -> None:
    server = ServerProcess(folder / "served", agents=[AGENT])
    times: dict[served.Cycle, list[float]] = {served.over_threads: [], served.over_langgraph: []}
    try:
        client = ThreadsClient(server.start().url).sign_in()
        for _ in range(ROUNDS):
            for cycle, found in times.items():
                found += asyncio.run(served.measure(server, client, 1, cycles // ROUNDS, cycle))
    finally:
        server.close()
    base, measured = (statistics.median(each) * 1000 for each in times.values())
    table.add(Row("langgraph", "create, run to the question, answer: median", measured, base, "ms", "threads face"))


def search_against_few(table: Table, folder: Path, sizes: tuple[int, ...]) -> None:
    file = folder / "threads" / "interlock.db"
    on_sqlite = ServerProcess(file.parent, agents=[AGENT])
    _grow(table, "SQLite", on_sqlite, lambda made, to: _fill_sqlite(file, made, to), sizes)
    with durable_postgres() as postgres, postgres.fresh_database() as url:
        on_postgres = ServerProcess(folder / "threads-postgres", agents=[AGENT], database=url)
        _grow(table, "PostgreSQL", on_postgres, lambda made, to: _fill_postgres(url, made, to), sizes)


def _grow(
    table: Table, name: str, server: ServerProcess, fill: Callable[[int, int], None], sizes: tuple[int, ...]
) -> None:
    client = ThreadsClient(server.start().url).sign_in()
    client.http.post("/threads", json={"thread_id": str(uuid4())}).raise_for_status()
    there, few = 0, dict[str, float]()
    try:
        for size in sizes:
            server.stop()
            fill(there, size)
            there = size
            times = _measured(client.at(server.start().url))
            few = few or times
            for what, milliseconds in times.items() if size != sizes[0] else ():
                row = f"{name}: {what}, {size:,} threads"
                table.add(Row("langgraph", row, milliseconds, few[what], "ms", f"{sizes[0]}"))
    finally:
        server.close()


def _measured(client: ThreadsClient) -> dict[str, float]:
    """Milliseconds, the median of each."""
    return {what: statistics.median(_times(client, *wanted)) * 1000 for what, wanted in WANTED.items()}


def _times(client: ThreadsClient, body: dict[str, Any], count: int) -> list[float]:
    times: list[float] = []
    for _ in range(SEARCHES):
        started = time.perf_counter()
        found = client.http.post("/threads/search", json=body).raise_for_status().json()
        times.append(time.perf_counter() - started)
        assert len(found) == count, found
    return times[1:]


def _statement(dialect: str) -> str:
    """Copies of the one thread that there is, all older than it; the first few have other metadata."""
    places = ":{}" if dialect == "sqlite" else "%({})s::bigint"
    series = SERIES.format(first=places.format(FIRST), last=places.format(LAST))
    few = canonical_json({"few": True})
    older = OLDER[dialect].format("created_at")
    changed = {
        "id": "r.id || '-' || n.i",
        "created_at": older,
        "updated_at": older,
        "metadata": f"CASE WHEN n.i < {FEW} THEN '{few}' ELSE r.metadata END",
    }
    names = [column.name for column in threads.columns]
    values = [changed.get(name, f"r.{name}") for name in names]
    one = f"(SELECT * FROM {threads.name} ORDER BY created_at DESC LIMIT 1) AS r"
    return f"INSERT INTO {threads.name} ({', '.join(names)}) SELECT {', '.join(values)} FROM {one}, {series}"


def _fill_sqlite(file: Path, first: int, last: int) -> None:
    connection = sqlite3.connect(file)
    with connection:
        connection.execute(_statement("sqlite"), {FIRST: first, LAST: last})
    connection.close()


def _fill_postgres(url: str, first: int, last: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_statement("postgresql").encode(), {FIRST: first, LAST: last})
        connection.execute("VACUUM ANALYZE")
