"""The two stores, as one would run them: what is committed is on the disk."""

from collections.abc import Generator
from contextlib import contextmanager

from tests.servers.postgres import PostgresServer, own_postgres


@contextmanager
def durable_postgres() -> Generator[PostgresServer]:
    with own_postgres(
        fsync="on", synchronous_commit="on", full_page_writes="on", autovacuum="on", shared_buffers="256MB"
    ) as keeper:
        yield keeper.server
