"""An MCP host that runs elsewhere, over the real SDK's client, and a look at the calls that wait for an ask."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import CallToolResult, Implementation, TextContent
from sqlalchemy import select

from interlock.storage.database import open_database
from interlock.storage.schema import holds
from tests.support.hitl import HitlClient
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for

MODES = ["auto", "legacy"]
SECONDS = 120.0


@dataclass(frozen=True)
class Host:
    """A key of an agent, and the person who made it and is asked."""

    server: ServerProcess
    person: HitlClient
    agent: str
    key: str

    @asynccontextmanager
    async def connected(
        self, mode: str = "auto", query: str = "", client: str = "test", **more: Any
    ) -> AsyncGenerator[Client]:
        headers = {"authorization": f"Bearer {self.key}", "user-agent": f"{client}/1.0"}
        async with create_mcp_http_client(headers) as http:
            transport = streamable_http_client(f"{self.server.url}/mcp{query}", http_client=http)
            info = Implementation(name=client, version="1.0")
            async with Client(transport, mode=mode, client_info=info, **more) as connected:
                yield connected

    def pending(self) -> list[dict[str, Any]]:
        return self.person.everything(agent=self.agent)["pending_requests"]

    async def asked(self, count: int = 1) -> list[dict[str, Any]]:
        """What it comes to ask."""
        return await asyncio.to_thread(wait_for, self.pending, lambda found: len(found) == count)

    async def ask_id(self) -> str:
        return (await self.asked())[0]["request_id"]

    def held(self) -> list[bool]:
        """Of each ask whose id nobody was told: whether a call waits for it."""
        return [until > datetime.now(UTC) for until in self.held_until()]

    def held_until(self) -> list[datetime]:
        """Of each such ask: until when its call is believed to wait."""
        return asyncio.run(self._held_until())

    async def _held_until(self) -> list[datetime]:
        database = open_database(self.server.database or f"sqlite:///{self.server.data}/interlock.db")
        try:
            async with database.read() as connection:
                return list((await connection.execute(select(holds.c.held_until))).scalars().all())
        finally:
            await database.close()

    async def orphaned(self) -> None:
        """Wait until no call waits for what was asked."""
        await asyncio.to_thread(wait_for, self.held, lambda held: not any(held))


class Progress:
    """What a host hears while its call is held."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.messages: list[str | None] = []
        self._has_news = asyncio.Event()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        self.values.append(progress)
        self.messages.append(message)
        self._has_news.set()

    async def heard(self, count: int = 1) -> None:
        async with asyncio.timeout(SECONDS):
            while len(self.values) < count:
                self._has_news.clear()
                await self._has_news.wait()


@asynccontextmanager
async def underway(call: Coroutine[Any, Any, CallToolResult]) -> AsyncGenerator[asyncio.Task[CallToolResult]]:
    """A call that waits beside the test, and is over when the test is."""
    task = asyncio.create_task(call)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


def text_of(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


def told(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, text_of(result)
    return result.structured_content


def code_of(result: CallToolResult) -> str:
    """Of a call that was refused."""
    assert result.is_error
    assert "Do not go on as if it were a yes" in text_of(result)
    return (result.meta or {})["interlock/code"]
