"""Calls to programs elsewhere whose reply is read: those of vendors of channels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class NotReached(Exception):
    """Nothing was sent."""


class NoReply(Exception):
    """What came of it is not known."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    status: int
    headers: Mapping[str, str]
    """Their names in small letters."""
    body: bytes


class Caller(Protocol):
    async def call(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> HttpReply:
        """`NotReached` where nothing was sent, because its host is not allowed or not there; `NoReply` where it was."""
        ...
