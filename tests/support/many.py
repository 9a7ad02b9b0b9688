"""Very many open requests on one conversation: copies of one, put in by the database itself, which takes a moment."""

from sqlalchemy import create_engine, func, select, text, update

from interlock.domain.request import RequestStatus
from interlock.storage.schema import events, pauses, removals, requests

MORE_THAN_PARAMETERS = 66_000
"""PostgreSQL takes 65,535 parameters in one statement."""

_SERIES = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count) SELECT i FROM n) AS n"


def copy_request(url: str, request_id: str, count: int) -> None:
    """Each copy has a pause of its own, as the asks of an agent that runs elsewhere have."""
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    copied = {
        pauses: {"id": "r.id || '-' || n.i", "seq": "r.seq + n.i"},
        requests: {"id": "r.id || '-' || n.i", "pause_id": "r.pause_id || '-' || n.i"},
    }
    of_request = {pauses: "(SELECT pause_id FROM requests WHERE id = :request)", requests: ":request"}
    with engine.begin() as connection:
        for table, changed in copied.items():
            names = [column.name for column in table.columns]
            values = ", ".join(changed.get(name, f"r.{name}") for name in names)
            copy = f"INSERT INTO {table.name} ({', '.join(names)}) SELECT {values} FROM {table.name} AS r, {_SERIES}"
            copy += f" WHERE r.id = {of_request[table]}"
            connection.execute(text(copy), {"count": count, "request": request_id})
    engine.dispose()


def cancel_all_but(url: str, thread_id: str, count: int) -> None:
    """As if a server had gone on with its work until so many were left to be cancelled."""
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    mine = select(requests.c.id).where(requests.c.thread_id == thread_id, requests.c.status == RequestStatus.PENDING)
    with engine.begin() as connection:
        cancelled = update(requests).where(requests.c.thread_id == thread_id, requests.c.id.not_in(mine.limit(count)))
        connection.execute(cancelled.values(status=RequestStatus.CANCELLED))
    engine.dispose()


def removals_left(url: str) -> int:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        count = connection.scalar(select(func.count()).select_from(removals)) or 0
    engine.dispose()
    return count


def rows_left(url: str, thread_id: str) -> dict[str, int]:
    """How many rows a thread still has in its largest tables."""
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        counts = {
            table.name: connection.scalar(select(func.count()).where(table.c.thread_id == thread_id)) or 0
            for table in (requests, pauses, events)
        }
    engine.dispose()
    return counts
