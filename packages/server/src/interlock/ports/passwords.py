"""Passwords: only their hashes are kept."""

from typing import Protocol


class Passwords(Protocol):
    async def hash(self, password: str) -> str: ...

    async def verify(self, password_hash: str, password: str) -> bool:
        """Whether it is the password; takes as long for a wrong one as for the right one."""
        ...
