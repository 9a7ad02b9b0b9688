"""Cutting a connection off. To close one properly would be to wait for a reader who does not read."""

import asyncio
from collections.abc import Callable

from starlette.requests import ClientDisconnect
from starlette.types import Scope

DROP = "interlock.drop"
"""Under this name the server that runs the application puts, in each scope's state, what ends the connection."""


async def drop(scope: Scope) -> None:
    """End the connection at once, with whatever still waits to be sent on it."""
    abort = _abort(scope)
    if abort is None:
        raise ClientDisconnect
    abort()
    # The server hears of it in the next turn of the loop, and would else miss the rest of the response.
    await asyncio.sleep(0)


def drop_later(scope: Scope, seconds: float) -> None:
    """End the connection then, if it has not ended by itself."""
    if abort := _abort(scope):
        asyncio.get_running_loop().call_later(seconds, abort)


def _abort(scope: Scope) -> Callable[[], None] | None:
    return scope.get("state", {}).get(DROP)
