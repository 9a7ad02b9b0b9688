"""The keys behind a server's tokens, as somebody knows them who has its master key and its database."""

import asyncio
import time
from typing import Any

import jwt

from interlock.config import load
from interlock.master_key import master_key
from interlock.storage.database import open_database
from interlock.storage.key_ring import unlock
from tests.support.server import ServerProcess


def token_keys(server: ServerProcess) -> dict[int, bytes]:
    """By number, as they are in the database now."""

    async def read() -> dict[int, bytes]:
        config = load({"data": server.data, "database": server.database})
        database = open_database(config.database_url)
        try:
            async with database.read() as connection:
                return (await unlock(connection, master_key(config))).tokens
        finally:
            await database.close()

    return asyncio.run(read())


def signed(claims: dict[str, Any], keys: dict[int, bytes]) -> str:
    """A token of these claims, as the server would sign it."""
    number = max(keys)
    return jwt.encode(claims, keys[number], algorithm="HS256", headers={"kid": str(number)})


def forged(user_id: str, keys: dict[int, bytes]) -> str:
    """A token that nobody was given, of somebody who will not have signed in before long."""
    then = time.time() + 3600
    return signed({"sub": user_id, "iat": then, "exp": then + 3600, "aud": "interlock", "jti": "0" * 32}, keys)
