"""Passwords hashed with Argon2id, away from the event loop: each takes tens of milliseconds by design."""

import asyncio

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError


class Argon2Passwords:
    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        # Each takes 64 MiB while it works: a flood of sign-ins waits its turn.
        self._turns = asyncio.Semaphore(2)

    async def hash(self, password: str) -> str:
        async with self._turns:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def verify(self, password_hash: str, password: str) -> bool:
        async with self._turns:
            try:
                return await asyncio.to_thread(self._hasher.verify, password_hash, password)
            except (Argon2Error, InvalidHashError):
                return False
