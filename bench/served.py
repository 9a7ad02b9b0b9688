"""The product: the same graph through HTTP, on a server process of its own."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient


class Connection:
    """HTTP/1.1 on one kept-alive connection, as bare as it gets: the client's own time must not count."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str, host: str) -> None:
        self._reader = reader
        self._writer = writer
        self._head = f"Host: {host}\r\nAuthorization: {token}\r\nContent-Type: application/json\r\n"

    @classmethod
    async def open(cls, address: str, token: str) -> "Connection":
        host, _, port = address.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        return cls(reader, writer, token, f"{host}:{port}")

    async def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        content = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\n{self._head}Content-Length: {len(content)}\r\n\r\n"
        self._writer.write(head.encode() + content)
        status = await self._reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in status.split(b"\r\n")[0], status
        received = b""
        while size := int((await self._reader.readline()).strip(), 16):
            received += await self._reader.readexactly(size)
            await self._reader.readline()
        await self._reader.readline()
        return received

    def close(self) -> None:
        self._writer.close()


Cycle = Callable[[Connection, str], Awaitable[None]]
"""Make a thread, run it to its question and answer that; the owner's name is given."""


async def over_threads(connection: Connection, owner: str) -> None:
    thread_id = f"{owner}-{uuid4()}"
    asked = await connection.post(f"/api/chat/{thread_id}", {"message": "touch it"})
    assert b"event: interrupt" in asked, asked
    done = await connection.post(f"/api/resume/{thread_id}", {"action": "continue"})
    assert b"It is done." in done, done


async def over_langgraph(connection: Connection, owner: str) -> None:
    path = f"/threads/{uuid4()}/runs/wait"
    given = {"messages": [{"type": "human", "content": "touch it"}]}
    asked = await connection.post(path, {"assistant_id": "bench", "input": given, "if_not_exists": "create"})
    assert b"__interrupt__" in asked, asked
    answer = {"resume": {"decisions": [{"type": "approve"}]}}
    done = await connection.post(path, {"assistant_id": "bench", "command": answer})
    assert b"It is done." in done, done


async def measure(
    server: ServerProcess, client: ThreadsClient, threads: int, cycles: int, cycle: Cycle = over_threads
) -> list[float]:
    token = client.http.headers["authorization"]

    async def timed(connection: Connection) -> float:
        started = time.perf_counter()
        await cycle(connection, client.username)
        return time.perf_counter() - started

    async def thread() -> list[float]:
        connection = await Connection.open(server.url, token)
        times = [await timed(connection) for _ in range(cycles)]
        connection.close()
        return times

    await thread()
    times = await asyncio.gather(*(thread() for _ in range(threads)))
    return [one for each in times for one in each]
