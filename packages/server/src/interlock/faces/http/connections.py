"""Sockets from their handshake to their end: who comes in, and what ends a connection that stays open."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, cast

from fastapi import WebSocket

from interlock.domain.errors import InterlockError, NotAuthenticated, StorageUnavailable
from interlock.domain.principal import Principal
from interlock.faces.http.credentials import authenticate, caller_still
from interlock.faces.http.problems import ErrorFormat
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sockets import Outbox, refuse_handshake
from interlock.faces.http.watching import RECHECK_SECONDS

GOING_AWAY, POLICY = 1001, 1008

Converse = Callable[[Outbox, Principal], Awaitable[None]]
Speak = Callable[[str], str]
"""The text for `closing` or `revoked`, in the client's language."""


async def welcome(websocket: WebSocket, dialect: ErrorFormat, converse: Converse) -> None:
    """Take the caller in and talk with them, or refuse the handshake with a status."""
    try:
        principal = await authenticate(websocket)
        limits = state_of(websocket).limits
        with limits.stream(principal.person_id):
            await websocket.accept()
            async with Outbox(websocket, principal.id, limits.slow_seconds) as outbox:
                await converse(outbox, principal)
    except InterlockError as error:
        # Only before the handshake: on an open socket every error is a message.
        refusal = dialect.refuse(error, cast("Any", websocket))
        await refuse_handshake(websocket.scope, cast("Any", websocket).send, refusal)


async def watch(
    websocket: WebSocket, before: Principal, still: Callable[[Principal], Awaitable[None]], speak: Speak
) -> None:
    """Close the socket when the server shuts down or the credential has ended; say when it stands for another one."""
    while not await _is_closing(websocket, RECHECK_SECONDS):
        try:
            principal = await caller_still(websocket)
            if principal != before:
                await still(principal)
            before = principal
        except NotAuthenticated:
            await close(websocket, POLICY, speak("revoked"))
            return
        except StorageUnavailable:
            continue
    await close(websocket, GOING_AWAY, speak("closing"))


async def close(websocket: WebSocket, code: int, reason: str) -> None:
    # Unless it was closed a moment before.
    with suppress(RuntimeError):
        await websocket.close(code, reason)


async def _is_closing(websocket: WebSocket, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await state_of(websocket).closing.wait()
    except TimeoutError:
        return False
