"""What a running server's database holds."""

import asyncio
from typing import Any

from sqlalchemy import Executable, select

from interlock.storage.database import open_database
from interlock.storage.schema import runs
from tests.support.server import ServerProcess


def stop_reason(server: ServerProcess, run_id: str) -> str | None:
    """Why a run was asked to stop; None if it was not."""
    [reason] = first_column(server, select(runs.c.stop_reason).where(runs.c.id == run_id))
    return reason


def first_column(server: ServerProcess, statement: Executable) -> list[Any]:
    return [row[0] for row in rows_of(server, statement)]


def rows_of(server: ServerProcess, statement: Executable) -> list[tuple[Any, ...]]:
    return asyncio.run(_rows_of(server, statement))


async def _rows_of(server: ServerProcess, statement: Executable) -> list[tuple[Any, ...]]:
    database = open_database(server.database or f"sqlite:///{server.data}/interlock.db")
    try:
        async with database.read() as connection:
            return [tuple(row) for row in await connection.execute(statement)]
    finally:
        await database.close()
