"""What a running server's database holds."""

import asyncio
from typing import Any

from sqlalchemy import Executable

from interlock.storage.database import open_database
from tests.support.server import ServerProcess


def first_column(server: ServerProcess, statement: Executable) -> list[Any]:
    return asyncio.run(_first_column(server, statement))


async def _first_column(server: ServerProcess, statement: Executable) -> list[Any]:
    database = open_database(server.database or f"sqlite:///{server.data}/interlock.db")
    try:
        async with database.read() as connection:
            return list((await connection.execute(statement)).scalars().all())
    finally:
        await database.close()
