"""What the faces are given by the composition root."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from fastapi.requests import HTTPConnection

from interlock.faces.http.limits import Limits
from interlock.faces.http.tokens import OneTimeLink, Tokens
from interlock.services.core import Core
from interlock.texts import Locale


async def _nothing() -> bytes:
    return b""


@dataclass(slots=True)
class ServerState:
    core: Core
    tokens: Tokens
    locale: Locale = "zh"
    with_accounts: bool = True
    limits: Limits = field(default_factory=Limits)
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    link: OneTimeLink = field(default_factory=OneTimeLink)
    metrics: Callable[[], Awaitable[bytes]] = _nothing
    metrics_token: str | None = field(default=None, repr=False)
    """What whoever collects the metrics brings, who is no user."""
    round_key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    """Seals what a client carries from one round of a call to the next; the same on every server of a database."""
    attempt_key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    """Signs what a browser keeps while its person is at the provider of single sign-on; the same on every server."""
    public_url: str | None = None
    """Where browsers reach the server, where the operator said so."""
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server takes work."""
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server shuts down: streams end, and tell that the run goes on."""


def state_of(connection: HTTPConnection) -> ServerState:
    state: ServerState = connection.app.state.server
    return state
