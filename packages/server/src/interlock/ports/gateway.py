"""What the gateway needs of the store, and of the servers behind it. The rules of `ports.store` hold."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from interlock.domain.gateway import ToolPin, UpstreamCall, UpstreamSettings
from interlock.domain.json_value import JsonObject


class UpstreamCalls(Protocol):
    """Calls whose end is not known, and the definitions of tools that people approved."""

    async def add(self, call: UpstreamCall) -> None: ...

    async def get(self, call_id: str) -> UpstreamCall | None: ...

    async def same(self, asker_id: str, digest: str) -> list[UpstreamCall]:
        """Those of this asker with this digest, whoever holds them, the one that was left first before the others."""
        ...

    async def take(self, call: UpstreamCall, holder: str, until: datetime) -> bool:
        """True for the caller that has it from now on, False when it has changed since it was read."""
        ...

    async def renew(self, call_id: str, holder: str, until: datetime) -> bool:
        """False when it is another's by now, or has ended."""
        ...

    async def doubt(self, call_id: str, request_id: str | None) -> None:
        """Name the request by which people are asked about it; None once they have spoken of that attempt."""
        ...

    async def end(self, call_id: str) -> None:
        """Its end is known."""
        ...

    async def list_expired(self, before: datetime, limit: int) -> list[UpstreamCall]:
        """Those whose holder was last alive before then, and that no open request is about; the oldest first."""
        ...

    async def next_left(self) -> datetime | None:
        """When the next of those is left that nobody was asked about."""
        ...

    async def leave_all(self, holders: str, at: datetime) -> None:
        """Nobody whose name begins so is alive."""
        ...

    async def pin(self, owner_id: str, upstream: str, tool: str) -> str | None: ...

    async def set_pin(self, pin: ToolPin) -> None: ...


class UpstreamLost(Exception):
    """The connection broke, or nothing came for too long. What was sent may have taken effect."""


class UpstreamUnreachable(Exception):
    """Nothing was sent."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One HTTP request of a host, as it is passed on to an upstream."""

    method: str
    caller: str
    """The key that asks, and its conversation where it names one. Processes are not shared between callers."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Those of the protocol alone: never a credential of the host."""
    message: JsonObject | None = None
    """What it posts."""


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]
    """As the content type says: one message of JSON, or server-sent events. It raises `UpstreamLost`."""

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type", "").startswith("text/event-stream")


class Upstream(Protocol):
    @property
    def settings(self) -> UpstreamSettings: ...

    def open(self, exchange: Exchange) -> AbstractAsyncContextManager[Reply]:
        """Pass it on. `UpstreamUnreachable` or `UpstreamLost` when there is no reply."""
        ...

    async def close(self) -> None:
        """End its connections and processes."""
        ...
