"""`interlock migrate`."""

import asyncio
from collections.abc import Mapping
from typing import Any

from interlock.config import load
from interlock.storage.database import open_database
from interlock.storage.migrate import migrate


def migrate_now(given: Mapping[str, Any]) -> list[str]:
    async def run() -> list[str]:
        database = open_database(load(given).database_url)
        try:
            return await migrate(database)
        finally:
            await database.close()

    return asyncio.run(run())
