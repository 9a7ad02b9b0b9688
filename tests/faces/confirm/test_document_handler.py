"""The handler of the face's source document, in our own words: it knows no credentials, creates no session and never
reconnects; it works unchanged on a server without accounts."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import websockets

from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for
from tests.support.witness import Witness

BOUND = 60.0
KEEP_ALIVE = "02"
"""As the system writes it."""


@dataclass
class Request:
    step_id: str
    message: str
    tool_name: str
    tool_description: str
    tool_args: dict[str, Any]


class Handler:
    """Confirms what the test lets it, and keeps what it was asked."""

    def __init__(self, ws_url: str, replies: list[dict[str, Any]]) -> None:
        self.ws_url = ws_url
        self.session_id: str | None = None
        self.pending: dict[str, Request] = {}
        self.asked: list[Request] = []
        self.replies = replies
        self.final = ""

    async def talk(self, message: str) -> None:
        async with websockets.connect(self.ws_url) as ws:
            await ws.send(json.dumps({"event": "user.message", "content": message}))
            async for raw in ws:
                data = json.loads(raw)
                if data.get("event") == "agent.session_created":
                    self.session_id = data.get("session_id")
                elif data.get("event") == "agent.user_confirm":
                    await self.ask(ws, data)
                elif data.get("event") == "agent.final_answer":
                    self.final = data["content"]
                    return

    async def ask(self, ws: websockets.ClientConnection, data: dict[str, Any]) -> None:
        metadata = data.get("metadata", {})
        request = Request(
            data["step_id"],
            data["content"],
            metadata.get("tool_name"),
            metadata.get("tool_description"),
            metadata.get("tool_args", {}),
        )
        self.pending[request.step_id] = request
        self.asked.append(request)
        assert self.session_id is not None
        content = self.replies.pop(0)
        reply = {"event": "user.response", "session_id": self.session_id, "step_id": request.step_id}
        await ws.send(json.dumps({**reply, "content": content}))
        self.pending.pop(request.step_id)


async def test_the_handler_of_the_document_works_unchanged(
    trusting: ServerProcess, witness: Witness, fresh: str
) -> None:
    replies: list[dict[str, Any]] = [
        {"confirmed": True, "reason": "用户确认删除文件", "user_id": "user_123"},
        {"confirmed": False, "reason": "文件太重要，不能删除"},
        {"confirmed": True, "userId": "user_123", "metadata": {"from": "a browser"}},
    ]
    handler = Handler(trusting.url.replace("http", "ws"), replies)
    turns = [calls(("guarded", {"name": f"{fresh}-{number}"})) for number in range(3)]
    async with asyncio.timeout(BOUND):
        await handler.talk(script(*turns))
    assert handler.session_id is not None
    assert handler.session_id.startswith("sess_")
    assert [one.tool_args["name"] for one in handler.asked] == [f"{fresh}-{number}" for number in range(3)]
    assert {one.message for one in handler.asked} == {"确认执行工具: guarded"}
    assert all(one.step_id.endswith("_confirm_guarded") and one.tool_description for one in handler.asked)
    assert "文件太重要，不能删除" in handler.final
    assert handler.pending == {}
    assert [witness.count(f"{fresh}-{number}") for number in range(3)] == [1, 0, 1]


async def test_a_handler_that_blocks_its_loop_is_not_dropped(trusting: ServerProcess, fresh: str) -> None:
    """No ping of the protocol waits for an answer here: who sits at a prompt may sit there."""
    async with websockets.connect(trusting.url.replace("http", "ws"), ping_interval=None) as ws:
        await ws.send(json.dumps({"event": "user.message", "content": script(calls(("guarded", {"name": fresh})))}))
        seen: list[Any] = []
        async with asyncio.timeout(BOUND):
            while not seen or seen[-1]["event"] != "agent.user_confirm":
                seen.append(json.loads(await ws.recv()))
        assert ws.latency == 0
        ends = (ws.local_address[1], ws.remote_address[1])
        # Until what was just sent is acknowledged, another timer runs.
        wait_for(lambda: _timer_of(*ends), lambda timer: timer == KEEP_ALIVE)


def _timer_of(client: int, server: int) -> str:
    """The timer that the system runs on the server's end of a connection over loopback."""
    ends = (f":{server:04X}", f":{client:04X}")
    for line in Path("/proc/net/tcp").read_text().splitlines():
        fields = line.split()
        if (fields[1][-5:], fields[2][-5:]) == ends:
            return fields[5].partition(":")[0]
    raise AssertionError("there is no such connection")
