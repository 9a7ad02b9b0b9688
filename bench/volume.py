"""Answers and lists with few and with very many requests pending: they should take the same time."""

import http.client
import json
import sqlite3
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from bench.pile import COPIED, FIRST, LAST, heap
from bench.stores import durable_postgres
from bench.table import Row, Table
from tests.support.hitl import HITL, QUESTION
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

SIZES = (10, 10_000, 1_000_000)
SMALL = (10, 1_000, 20_000)
UNBOUNDED = {f"INTERLOCK_OPEN_{scope}": "100000000" for scope in ("PER_CONVERSATION", "PER_OWNER", "IN_ALL")}
"""What is measured is beyond what a server allows by itself."""
ANSWERS = 40
LISTS = 40
PAGE = 10
"""As many as there are in the smallest case, so that each page holds the same."""

WANTED = {
    "first page": (f"?limit={PAGE}", PAGE),
    "page of an agent that asked 5": (f"?limit={PAGE}&agent=few", 5),
    "page of a risk that 5 have": (f"?limit={PAGE}&risk=critical", 5),
}
"""Each with how many it finds."""

Fill = Callable[[dict[str, Any]], None]
"""Put in copies of a request; it is given which, and how many."""


def against_few(table: Table, folder: Path, sizes: tuple[int, ...]) -> None:
    file = folder / "pile" / "interlock.db"
    _grow(
        table,
        "SQLite",
        ServerProcess(file.parent, environment=UNBOUNDED),
        lambda given: fill_sqlite(file, given),
        sizes,
    )
    with durable_postgres() as postgres, postgres.fresh_database() as url:
        server = ServerProcess(folder / "pile-postgres", database=url, environment=UNBOUNDED)
        _grow(table, "PostgreSQL", server, lambda given: fill_postgres(url, given), sizes)


def _grow(table: Table, name: str, server: ServerProcess, fill: Fill, sizes: tuple[int, ...]) -> None:
    client = ThreadsClient(server.start().url).sign_in()
    copied = _Caller(server.url, client).ask()
    there, few = 0, dict[str, float]()
    try:
        for size in sizes:
            server.stop()
            fill({COPIED: copied, FIRST: there, LAST: size})
            there = size
            server.start()
            times = _measured(_Caller(server.url, client))
            few = few or times
            for what, milliseconds in times.items():
                if size != sizes[0]:
                    table.add(
                        Row("volume", f"{name}: {what}, {size:,} pending", milliseconds, few[what], "ms", f"{sizes[0]}")
                    )
    finally:
        server.close()


def _measured(caller: "_Caller") -> dict[str, float]:
    """Milliseconds, the median of each."""
    asked = [caller.ask() for _ in range(ANSWERS)]
    times = {"answer": statistics.median(caller.timed_answer(request) for request in asked)}
    for what, (query, found) in WANTED.items():
        caller.timed_list(query, found)
        times[what] = statistics.median(caller.timed_list(query, found) for _ in range(LISTS))
    return {what: seconds * 1000 for what, seconds in times.items()}


class _Caller:
    """One kept-alive connection of a person who asks and answers; the library's own time is small."""

    def __init__(self, url: str, client: ThreadsClient) -> None:
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=600)
        self._headers = {"authorization": client.http.headers["authorization"], "content-type": "application/json"}

    def ask(self) -> str:
        asked = {"type": "clarification", "request_data": QUESTION}
        return self._call("POST", f"{HITL}/requests", asked)["data"]["request_id"]

    def timed_answer(self, request_id: str) -> float:
        started = time.perf_counter()
        self._call("POST", f"{HITL}/respond", {"request_id": request_id, "response": {"answer": "A"}})
        return time.perf_counter() - started

    def timed_list(self, query: str, found: int) -> float:
        started = time.perf_counter()
        page = self._call("GET", f"{HITL}/pending{query}")["data"]
        seconds = time.perf_counter() - started
        assert len(page["pending_requests"]) == found, page
        return seconds

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        self._connection.request(method, path, None if body is None else json.dumps(body), self._headers)
        response = self._connection.getresponse()
        content = response.read()
        assert response.status == 200, content
        return json.loads(content)


def fill_sqlite(file: Path, given: dict[str, Any]) -> None:
    connection = sqlite3.connect(file)
    # Nobody else has it open, and what a crash breaks is filled again: what counts is that it does not take minutes.
    for setting in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-2000000"):
        connection.execute(f"PRAGMA {setting}")
    with connection:
        for statement in heap("sqlite"):
            connection.execute(statement, given)
    connection.close()


def fill_postgres(url: str, given: dict[str, Any]) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in heap("postgresql"):
            connection.execute(statement.encode(), given)
        # Else the planner would know of it only when autovacuum has come by.
        connection.execute("VACUUM ANALYZE")
