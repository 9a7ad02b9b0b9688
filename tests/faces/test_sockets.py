"""WebSockets within bounds, on a real server of one endpoint."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import WebSocketRoute
from starlette.types import Message
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from interlock.cli.connection import ConnectionLimits, connections
from interlock.domain.errors import InvalidInput
from interlock.faces.http.guard import AllowedHosts, Guard
from interlock.faces.http.limits import REFUSED_BURST, Limits
from interlock.faces.http.problems import Problems
from interlock.faces.http.sockets import MAX_MESSAGE, TRY_AGAIN_LATER, Outbox, check_message, refuse_handshake

Endpoint = Callable[[WebSocket], Awaitable[None]]
UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
}
BOUND = 60.0


@asynccontextmanager
async def served(endpoint: Endpoint, limits: Limits | None = None) -> AsyncGenerator[str]:
    """The address of a server with this endpoint behind a guard, without the scheme."""
    app = Guard(
        Starlette(routes=[WebSocketRoute("/socket", endpoint)]), AllowedHosts(), limits or Limits(), Problems({})
    )
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app,
        http=connections(ConnectionLimits()),
        ws_max_size=MAX_MESSAGE,
        ws_ping_interval=None,
        log_config=None,
        lifespan="off",
    )
    server = uvicorn.Server(config)
    # Not `serve`, which would take the signals of the process.
    serving = asyncio.create_task(server._serve([listening]))  # pyright: ignore[reportPrivateUsage]
    try:
        yield f"127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving


async def until_gone(websocket: WebSocket) -> Message:
    while True:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return message


async def test_what_is_put_arrives_in_order_and_also_what_was_put_last() -> None:
    async def endpoint(websocket: WebSocket) -> None:
        await websocket.accept()
        async with Outbox(websocket, "alice", 5.0) as outbox:
            for number in range(500):
                outbox.put(str(number))
        await websocket.close()

    async with served(endpoint) as address, connect(f"ws://{address}/socket") as client:
        assert [text async for text in client] == [str(number) for number in range(500)]
        assert client.close_code == 1000


async def test_who_has_too_much_waiting_is_closed_with_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    gone: asyncio.Queue[Message] = asyncio.Queue()

    async def endpoint(websocket: WebSocket) -> None:
        await websocket.accept()
        async with Outbox(websocket, "alice", 5.0, capacity=10) as outbox:
            for number in range(11):
                outbox.put(f"secret {number}")
            assert not outbox.is_open
            outbox.put("lost")
            gone.put_nowait(await until_gone(websocket))

    async with served(endpoint) as address, connect(f"ws://{address}/socket") as client:
        with pytest.raises(ConnectionClosed) as closed:
            await asyncio.wait_for(client.recv(), BOUND)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (
            TRY_AGAIN_LATER,
            "too slow: 10 messages waited",
        )
        await asyncio.wait_for(gone.get(), BOUND)
    (told,) = [record for record in caplog.records if record.name == "interlock.streams"]
    assert "alice" in told.getMessage()
    assert "secret" not in told.getMessage()
    assert told.__dict__["path"] == "/socket"


async def test_who_waits_for_room_may_tell_more_than_may_wait() -> None:
    async def endpoint(websocket: WebSocket) -> None:
        await websocket.accept()
        async with Outbox(websocket, "alice", 5.0, capacity=10) as outbox:
            for number in range(500):
                await outbox.room()
                outbox.put(str(number))
        await websocket.close()

    async with served(endpoint) as address, connect(f"ws://{address}/socket") as client:
        assert [text async for text in client] == [str(number) for number in range(500)]


async def test_who_waits_for_room_is_let_go_when_the_client_is() -> None:
    states: asyncio.Queue[bool] = asyncio.Queue()

    async def endpoint(websocket: WebSocket) -> None:
        await websocket.accept()
        async with Outbox(websocket, "alice", 0.2, volume=10**8) as outbox:
            while outbox.is_open:
                await outbox.room()
                outbox.put("x" * 10**7)
            states.put_nowait(outbox.is_open)

    async with served(endpoint) as address, connect(f"ws://{address}/socket", max_queue=1) as client:
        assert not await asyncio.wait_for(states.get(), BOUND)
        client.transport.abort()


async def test_texts_that_are_large_together_are_too_much_as_well() -> None:
    states: asyncio.Queue[bool] = asyncio.Queue()

    async def endpoint(websocket: WebSocket) -> None:
        await websocket.accept()
        async with Outbox(websocket, "alice", 5.0, volume=1000) as outbox:
            outbox.put("x" * 1000)
            states.put_nowait(outbox.is_open)
            outbox.put("y")
            states.put_nowait(outbox.is_open)

    async with served(endpoint) as address, connect(f"ws://{address}/socket"):
        assert await asyncio.wait_for(states.get(), BOUND)
        assert not await asyncio.wait_for(states.get(), BOUND)


async def test_who_does_not_read_is_cut_off(caplog: pytest.LogCaptureFixture) -> None:
    gone: asyncio.Queue[Message] = asyncio.Queue()

    async def endpoint(websocket: WebSocket) -> None:
        await websocket.accept()
        async with Outbox(websocket, "alice", 0.2, volume=10**8) as outbox:
            for _ in range(3):
                outbox.put("x" * 10**7)
            gone.put_nowait(await until_gone(websocket))

    async with served(endpoint) as address:
        host, _, port = address.partition(":")
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((host, int(port)))
            lines = [f"GET /socket HTTP/1.1\r\nhost: {address}", *(f"{name}: {UPGRADE[name]}" for name in UPGRADE)]
            client.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            await asyncio.wait_for(gone.get(), BOUND)
    (told,) = [record for record in caplog.records if record.name == "interlock.streams"]
    assert "too slow: nothing was taken" in told.getMessage()


async def handshake(address: str, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=f"http://{address}", timeout=60) as http:
        return await http.get("/socket", headers=UPGRADE | headers)


async def refuse(websocket: WebSocket) -> None:
    await refuse_handshake(websocket.scope, websocket._send, JSONResponse({"detail": "who are you"}, 401))  # pyright: ignore[reportPrivateUsage]


async def test_a_refused_handshake_has_a_status_and_a_body() -> None:
    async with served(refuse) as address:
        refused = await handshake(address)
        assert (refused.status_code, refused.json()) == (401, {"detail": "who are you"})
        assert refused.headers["x-request-id"]
        foreign = await handshake(address, origin="http://evil.example")
        assert foreign.status_code == 403
        assert "Origin" in foreign.json()["detail"]


async def test_a_flood_of_refused_handshakes_is_told_to_slow_down() -> None:
    async with served(refuse) as address:
        statuses = [(await handshake(address)).status_code for _ in range(3)]
        limits = Limits(clock=lambda: 0.0)
    assert statuses == [401] * 3
    for _ in range(REFUSED_BURST):
        limits.refuse("127.0.0.1")
    async with served(refuse, limits) as address:
        flooding = await handshake(address)
        assert (flooding.status_code, flooding.headers["retry-after"]) == (429, "1")
        assert "detail" in flooding.json()


async def test_where_the_server_cannot_answer_a_handshake_it_is_closed() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await refuse_handshake({"type": "websocket"}, send, JSONResponse({}, 429))
    assert [(message["type"], message["code"]) for message in sent] == [("websocket.close", 1008)]


async def test_an_endpoint_that_fails_closes_its_socket() -> None:
    async def endpoint(websocket: WebSocket) -> None:
        await websocket.accept()
        raise RuntimeError("inside")

    async with served(endpoint) as address, connect(f"ws://{address}/socket") as client:
        with pytest.raises(ConnectionClosed) as closed:
            await asyncio.wait_for(client.recv(), BOUND)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1011
    assert "inside" not in closed.value.rcvd.reason


async def test_a_message_that_is_too_large_closes_the_socket() -> None:
    async def endpoint(websocket: WebSocket) -> None:
        await websocket.accept()
        await until_gone(websocket)

    async with served(endpoint) as address, connect(f"ws://{address}/socket") as client:
        await client.send("x" * (MAX_MESSAGE + 1))
        with pytest.raises(ConnectionClosed) as closed:
            await asyncio.wait_for(client.recv(), BOUND)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


@pytest.mark.parametrize("message", ["x" * (MAX_MESSAGE + 1), "é" * (MAX_MESSAGE // 2 + 1), "[" * 65, b"[" * 65])
def test_a_message_beyond_the_bounds_is_refused_before_it_is_parsed(message: str | bytes) -> None:
    with pytest.raises(InvalidInput):
        check_message(message)


def test_a_message_within_the_bounds_is_taken() -> None:
    nested: Any = []
    for _ in range(63):
        nested = [nested]
    check_message(json.dumps(nested))
    check_message("x" * MAX_MESSAGE)
