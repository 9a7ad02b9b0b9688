"""Statements that copy a request, with its conversation, its pause and whom it is put to, as often as wanted.

Its copies are older than whatever is asked later, so that lists begin with them. They are of a thousand owners and a
hundred agents; the first five are of the agent `few`, and their risk is critical.
"""

from collections.abc import Iterator, Mapping

from sqlalchemy import Table

from interlock.storage.schema import candidates, pauses, requests, threads

COPIED, FIRST, LAST = "copied", "first", "last"
"""What the statements are to be given: the request's id, and the numbers of its copies; the last is not made."""

SERIES = (
    "(WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {last}) SELECT i FROM n) AS n"
)
OLDER = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f000', r.{}, '-30 days', (n.i / 1000.0) || ' seconds')",
    "postgresql": "r.{} - interval '30 days' + n.i * interval '1 millisecond'",
}
AGENT = "CASE WHEN n.i < 5 THEN 'few' ELSE 'agent-' || mod(n.i, 100) END"
OWNER = "'owner-' || mod(n.i, 1000)"


def heap(dialect: str) -> Iterator[str]:
    older = OLDER[dialect].format("created_at")
    thread = {"id": _copied("id"), "owner_id": OWNER, "agent": AGENT, "created_at": older, "updated_at": older}
    pause = {"id": _copied("id"), "thread_id": _copied("thread_id"), "created_at": older}
    request = {
        "id": _copied("id"),
        "pause_id": _copied("pause_id"),
        "thread_id": _copied("thread_id"),
        "owner_id": OWNER,
        "agent": AGENT,
        "risk": "CASE WHEN n.i < 5 THEN 'critical' ELSE r.risk END",
        "created_at": older,
    }
    put = {"request_id": _copied("request_id"), "asked_at": OLDER[dialect].format("asked_at")}
    for table, changed, own, column in (
        (threads, thread, "id", "thread_id"),
        (pauses, pause, "id", "pause_id"),
        (requests, request, "id", "id"),
        (candidates, put, "request_id", "id"),
    ):
        yield _statement(table, changed, own, column, dialect)


def _copied(name: str) -> str:
    return f"r.{name} || '-' || n.i"


def _statement(table: Table, changed: Mapping[str, str], own: str, column: str, dialect: str) -> str:
    places = ":{}" if dialect == "sqlite" else "%({})s"
    copied, first, last = (places.format(name) for name in (COPIED, FIRST, LAST))
    names = [each.name for each in table.columns]
    values = [changed.get(name, f"r.{name}") for name in names]
    one = f"(SELECT * FROM {table.name} WHERE {own} = (SELECT {column} FROM requests WHERE id = {copied})) AS r"
    series = SERIES.format(first=_whole(first, dialect), last=_whole(last, dialect))
    return f"INSERT INTO {table.name} ({', '.join(names)}) SELECT {', '.join(values)} FROM {one}, {series}"


def _whole(place: str, dialect: str) -> str:
    return place if dialect == "sqlite" else f"{place}::bigint"
