"""A thousand sockets on a few conversations: each is told everything, once and in order."""

import asyncio
import json
import resource
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.support import puppet
from tests.support.hitl import HITL, QUESTION
from tests.support.server import ServerProcess
from tests.support.sockets import PATH
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

SOCKETS = 1_000
CONVERSATIONS = 5
REQUESTS = 2
"""Of each conversation, beside the one that begins it; every one is asked and answered."""
AT_ONCE = 50
"""How many handshakes are under way at a time."""
BOUND = 300.0

Story = list[tuple[str, str]]


@pytest.fixture
def large(
    tmp_path_factory: pytest.TempPathFactory, witness: Witness, own_database: str | None
) -> Generator[ServerProcess]:
    process = ServerProcess(
        tmp_path_factory.mktemp("large"),
        agents=[puppet.SPEC],
        database=own_database,
        environment={
            **witness.environment,
            "INTERLOCK_STREAMS_PER_CALLER": str(SOCKETS),
            "INTERLOCK_RATE_BURST": str(20 * SOCKETS),
        },
    )
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The server inherits it: each socket is a file of its own on both sides.
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * SOCKETS), hard))
    try:
        yield process.start()
    finally:
        process.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Room:
    """One conversation, and everybody who follows it."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self.id: str | None = None
        self.story: Story = []
        self._open = ""

    async def ask(self) -> None:
        body = {"type": "clarification", "request_data": QUESTION, "conversation_id": self.id}
        asked = await self._post("requests", body)
        self.id, self._open = asked["conversation_id"], asked["request_id"]
        self.story.append(("clarification_asked", self._open))

    async def answer(self) -> None:
        await self._post("respond", {"request_id": self._open, "response": {"answer": "A"}})
        self.story.append(("clarification_answered", self._open))

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, str]:
        return (await self._http.post(f"{HITL}/{path}", json=body)).raise_for_status().json()["data"]


@asynccontextmanager
async def followers(url: str, token: str, rooms: list[Room]) -> AsyncGenerator[list[ClientConnection]]:
    turns = asyncio.Semaphore(AT_ONCE)

    async def join(index: int) -> ClientConnection:
        async with turns:
            socket = await connect(
                f"ws://{urlsplit(url).netloc}{PATH}?conversation_id={rooms[index % CONVERSATIONS].id}",
                additional_headers={"authorization": f"Bearer {token}"},
                compression=None,
                ping_interval=None,
                proxy=None,
                open_timeout=BOUND,
                close_timeout=BOUND,
            )
            assert json.loads(await socket.recv())["type"] == "subscribed"
            return socket

    sockets = await asyncio.gather(*(join(index) for index in range(SOCKETS)))
    try:
        yield sockets
    finally:
        await asyncio.gather(*(socket.close() for socket in sockets))


async def heard(socket: ClientConnection, count: int) -> Story:
    told = [json.loads(await socket.recv()) for _ in range(count)]
    numbers = [int(event["id"]) for event in told]
    assert numbers == sorted(set(numbers))
    return [(event["event_type"], event["request_id"]) for event in told]


async def test_a_thousand_sockets_are_each_told_everything_once_and_in_order(large: ServerProcess) -> None:
    person = await asyncio.to_thread(lambda: ThreadsClient(large.url).sign_in())
    token = person.http.headers["authorization"].removeprefix("Bearer ")
    person.http.close()
    headers = {"authorization": f"Bearer {token}"}
    async with (
        asyncio.timeout(BOUND),
        httpx.AsyncClient(base_url=large.url, headers=headers, timeout=BOUND) as http,
    ):
        rooms = [Room(http) for _ in range(CONVERSATIONS)]
        await asyncio.gather(*(room.ask() for room in rooms))
        async with followers(large.url, token, rooms) as sockets:
            length = 2 + 2 * REQUESTS
            hearing = asyncio.gather(*(heard(socket, length) for socket in sockets))
            for _ in range(REQUESTS):
                await asyncio.gather(*(room.answer() for room in rooms))
                await asyncio.gather(*(room.ask() for room in rooms))
            await asyncio.gather(*(room.answer() for room in rooms))
            stories = await hearing
            # Nothing more is on its way: what comes next is the answer to a ping.
            await asyncio.gather(*(socket.send('{"type": "ping"}') for socket in sockets))
            assert {await socket.recv() for socket in sockets} == {'{"type": "pong"}'}
        assert [len(room.story) for room in rooms] == [length] * CONVERSATIONS
        assert stories == [rooms[index % CONVERSATIONS].story for index in range(SOCKETS)]
