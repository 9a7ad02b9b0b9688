"""The inbox of somebody whom requests are put to, with few and with very many of them pending: the same time."""

import http.client
import json
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.pile import COPIED, FIRST, LAST
from bench.stores import durable_postgres
from bench.table import Row, Table
from bench.volume import LISTS, PAGE, UNBOUNDED, Fill, fill_postgres, fill_sqlite
from tests.support.hitl import HITL, PERMISSION
from tests.support.people import FIRST as ADMIN
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.teams import GROUPS, INBOX

MEMBER, ASKER = "member", "asker"
PAYMENTS, FINANCE = "payments", "finance"
"""Both are asked for each, and the member is in both: what is put to one is put to the other as well."""
NEEDS = {"people": 2, "from": [f"group:{PAYMENTS}", f"group:{FINANCE}"]}
CLAIMED = 5
WANTED: Mapping[str, tuple[str, int]] = {
    "all that a member sees": (f"limit={PAGE}", PAGE),
    "what is for a member": (f"limit={PAGE}&for=me", PAGE),
    "what is put to a group": (f"limit={PAGE}&for=group:{FINANCE}", PAGE),
    "what a member has claimed": (f"limit={PAGE}&for=claimed", CLAIMED),
}
"""Each with how many it finds."""


def against_few(table: Table, folder: Path, sizes: tuple[int, ...]) -> None:
    file = folder / "put" / "interlock.db"
    server = ServerProcess(file.parent, environment=UNBOUNDED)
    _grow(table, "SQLite", server, lambda given: fill_sqlite(file, given), sizes)
    with durable_postgres() as postgres, postgres.fresh_database() as url:
        server = ServerProcess(folder / "put-postgres", database=url, environment=UNBOUNDED)
        _grow(table, "PostgreSQL", server, lambda given: fill_postgres(url, given), sizes)


def _grow(table: Table, name: str, server: ServerProcess, fill: Fill, sizes: tuple[int, ...]) -> None:
    try:
        with People(server.start().url) as people:
            copied, *claimed = _asked(people)
            token = people.named(MEMBER).http.headers["authorization"]
        there, few = 0, dict[str, float]()
        for size in sizes:
            server.stop()
            fill({COPIED: copied, FIRST: there, LAST: size})
            there = size
            member = _Member(server.start().url, token)
            # Said again: a claim is over after a quarter of an hour.
            for request_id in claimed:
                member.call("POST", f"{INBOX}/requests/{request_id}/claim")
            times = {what: 1000 * member.median(*wanted) for what, wanted in WANTED.items()}
            few = few or times
            for what, milliseconds in times.items() if size != sizes[0] else ():
                row = f"{name}: {what}, {size:,} pending"
                table.add(Row("candidates", row, milliseconds, few[what], "ms", f"{sizes[0]}"))
    finally:
        server.close()


def _asked(people: People) -> list[str]:
    """The request that is copied, and some to be claimed."""
    admin, _, asker = (people.named(name).http for name in (ADMIN, MEMBER, ASKER))
    for group in (PAYMENTS, FINANCE):
        admin.post(GROUPS, json={"name": group, "members": [MEMBER, ADMIN]}).raise_for_status()
    body = {"type": "permission", "request_data": PERMISSION, "needs": NEEDS}
    replies = [asker.post(f"{HITL}/requests", json=body).raise_for_status() for _ in range(CLAIMED + 1)]
    return [reply.json()["data"]["request_id"] for reply in replies]


class _Member:
    """One kept-alive connection; the library's own time is small."""

    def __init__(self, url: str, token: str) -> None:
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=600)
        self._headers = {"authorization": token}

    def call(self, method: str, path: str) -> Any:
        self._connection.request(method, path, headers=self._headers)
        response = self._connection.getresponse()
        content = response.read()
        assert response.status == 200, content
        return json.loads(content)

    def median(self, query: str, found: int) -> float:
        spent: list[float] = []
        # The first one is not counted.
        for _ in range(LISTS + 1):
            begin = time.perf_counter()
            page = self.call("GET", f"{INBOX}?{query}")
            spent.append(time.perf_counter() - begin)
            assert len(page["requests"]) == found, page
        return statistics.median(spent[1:])
