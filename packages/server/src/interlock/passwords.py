"""Passwords hashed with Argon2id, away from the event loop: each takes tens of milliseconds by design."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from interlock.domain.errors import RateLimited
from interlock.texts import in_all, limits_text

T = TypeVar("T")

MOST_WAITING = 64
"""Of whatever addresses: who comes then is told so at once, and need not wait for a minute."""


class Argon2Passwords:
    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        # Each takes 64 MiB while it works: a flood of sign-ins waits its turn. The pool is its own,
        # so that no tool that keeps threads busy can keep people from signing in.
        self._waiting_count = 0
        self._threads = ThreadPoolExecutor(2, "interlock-passwords")

    async def hash(self, password: str) -> str:
        return await self._away(self._hasher.hash, password)

    async def verify(self, password_hash: str, password: str) -> bool:
        try:
            return await self._away(self._hasher.verify, password_hash, password)
        except (Argon2Error, InvalidHashError):
            return False

    async def _away(self, work: Callable[..., T], *args: str) -> T:
        if self._waiting_count >= MOST_WAITING:
            raise RateLimited(in_all(limits_text, "passwords"), 1.0)
        self._waiting_count += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)
        finally:
            self._waiting_count -= 1
