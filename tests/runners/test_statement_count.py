"""How much an approval costs the database: each statement is a round trip on PostgreSQL."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import event, make_url

from interlock.runners import graph_run
from interlock.services.core import OperatorSettings
from interlock.storage.database import Database, SqliteDatabase, open_database
from interlock.storage.sealing import Sealer, derive
from interlock.storage.store import SqlStore
from tests.conftest import MASTER_KEY
from tests.runners.deeds import Deeds
from tests.runners.stage import SECONDS, Stage, hosting, own_thread
from tests.runners.test_langchain_approvals import ONE, gated

CEILING = {"sqlite": 191, "postgresql": 196}
"""Statements of one cycle, those that begin and end transactions with them. Lower it with each one that is saved; what
makes it grow has to say what it is worth. PostgreSQL has a few to spare: how many connections are opened in a cycle is
a matter of time, and each asks for what it needs to know."""
WARM_UP = 3


class StatementCount:
    """What a database is told."""

    def __init__(self) -> None:
        self.count = 0

    def hear(self, _statement: str) -> None:
        self.count += 1

    @asynccontextmanager
    async def between(self, host: str, port: int) -> AsyncGenerator[int]:
        """A port behind which PostgreSQL is, and where each message is counted that has it run a statement."""
        links: list[asyncio.Task[None]] = []

        async def link(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there, away = await asyncio.open_connection(host, port)
            links.append(asyncio.create_task(_pass(there, writer)))
            links.append(asyncio.create_task(self._count(reader, away)))

        server = await asyncio.start_server(link, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            await asyncio.gather(*links)

    async def _count(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            # The first message has no type, only its length.
            kind, length = b"", await reader.readexactly(4)
            while True:
                self.count += kind in (b"Q", b"E")
                body = await reader.readexactly(int.from_bytes(length) - 4)
                writer.write(kind + length + body)
                kind, length = await reader.readexactly(1), await reader.readexactly(4)
        except asyncio.IncompleteReadError:
            return
        finally:
            writer.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
    finally:
        writer.close()


@asynccontextmanager
async def counted(url: str) -> AsyncGenerator[tuple[Database, StatementCount]]:
    counter = StatementCount()
    address = make_url(url)
    if address.get_backend_name() == "sqlite":
        database = open_database(url)
        assert isinstance(database, SqliteDatabase)

        def on_connect(connection: Any, _record: Any) -> None:
            connection.set_trace_callback(counter.hear)

        event.listen(database.engine, "connect", on_connect)
        try:
            yield database, counter
        finally:
            await database.close()
        return
    assert address.host is not None
    assert address.port is not None
    async with counter.between(address.host, address.port) as port:
        through = address.set(host="127.0.0.1", port=port)
        through = through.update_query_dict({"sslmode": "disable", "gssencmode": "disable"})
        database = open_database(through.render_as_string(hide_password=False))
        try:
            yield database, counter
        finally:
            await database.close()


async def cycle(stage: Stage, number: int) -> None:
    """Ask, answer and resume, with nothing in the background."""
    await stage.send(thread=own_thread(number))
    await (await stage.dying()).execute()
    (request,) = await stage.open_requests(own_thread(number))
    await stage.answer(request, {"decision": "accept"})
    await (await stage.dying()).execute()


async def test_an_approval_takes_no_more_statements_than_before(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a slow machine what waits to be told would be written by itself, and not with what follows.
    monkeypatch.setattr(graph_run, "FLUSH_SECONDS", SECONDS)
    deeds = Deeds()
    graph = gated(deeds, "batched", ONE)
    async with asyncio.timeout(SECONDS), counted(database_url) as (database, counter):
        store = SqlStore(database, sealer=Sealer(MASTER_KEY), audit_key=derive(MASTER_KEY, "audit"))
        stage = Stage(database, store, [hosting(graph)], OperatorSettings())
        for number in range(WARM_UP):
            await cycle(stage, number)
        # So that what is open in all is counted again, as it is every two seconds.
        stage.clock.move(60)
        before = counter.count
        await cycle(stage, WARM_UP)
        taken = counter.count - before
    assert deeds.done == ["delete a"] * (WARM_UP + 1)
    assert taken <= CEILING[make_url(database_url).get_backend_name()], taken
