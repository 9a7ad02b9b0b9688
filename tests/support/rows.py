"""What a running server's database holds."""

import asyncio
from typing import Any

from sqlalchemy import Executable

from interlock.storage.database import open_database
from tests.support.server import ServerProcess


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
