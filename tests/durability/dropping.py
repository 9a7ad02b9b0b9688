"""Many clients of the confirm face whose connections drop all the time, in a process of their own.

`python -m tests.durability.dropping ADDRESS COUNT SEED` has every five of them share a session. Its agent asks for two
confirmations; all give both, and go on until the end, whatever drops when. It prints what each was told, as JSON.
"""

import asyncio
import json
import random
import sys
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from tests.support.puppet import calls, script

SECONDS = 240.0
SHARING = 5
"""How many are told of the same session, and confirm the same."""
WHOLE = 10_000
LIVE_ONLY = ("agent.partial_answer", "agent.user_confirm", "agent.session_created")
"""What tells of no entry of the log: tokens, and what is of one connection."""


@dataclass
class Session:
    index: int
    id: str | None = None
    is_known: asyncio.Event = field(default_factory=asyncio.Event)
    is_begun: bool = False

    @property
    def names(self) -> list[str]:
        return [f"soak-{self.index}-{number}" for number in range(2)]


@dataclass
class Client:
    address: str
    session: Session
    is_first: bool
    random: random.Random
    last_seq: int = 0
    is_done: bool = False
    drops: int = 0
    steps: set[str] = field(default_factory=set[str])
    told: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])

    async def live(self) -> dict[str, Any]:
        if not self.is_first:
            await self.session.is_known.wait()
        while not self.is_done:
            try:
                async with connect(self.address, ping_interval=None, open_timeout=SECONDS) as socket:
                    await self._talk(socket, self.random.choice([1, 3, 5, 8, WHOLE, WHOLE]))
            except (ConnectionClosed, InvalidHandshake, InvalidMessage, OSError):
                self.drops += 1
        return {
            "session_id": self.session.id,
            "names": self.session.names,
            "steps": sorted(self.steps),
            "drops": self.drops,
            "told": sorted(self.told),
            "whole": sorted(await self._whole()),
        }

    async def _talk(self, socket: ClientConnection, most: int) -> None:
        """Until the end, or until so many events have come; and drop."""
        await self._begin(socket)
        async for raw in socket:
            told = json.loads(raw)
            await self._hear(socket, told)
            most -= told["event"] != "system.connected"
            if self.is_done:
                return
            if most <= 0:
                self._drop(socket)

    async def _begin(self, socket: ClientConnection) -> None:
        if self.session.id is None:
            await _send(socket, "user.create_session")
        else:
            metadata = {"last_seq": self.last_seq}
            await _send(socket, "user.reconnect", session_id=self.session.id, metadata=metadata)

    async def _hear(self, socket: ClientConnection, told: dict[str, Any]) -> None:
        event, seq = told["event"], told["seq"]
        self.last_seq = max(self.last_seq, seq)
        if event == "agent.session_created":
            self.session.id = told["session_id"]
            self.session.is_known.set()
            if self.is_first and not self.session.is_begun:
                # Perhaps once more: whether the last one was taken is not known. A session that works takes none.
                content = script(calls(*(("guarded", {"name": name}) for name in self.session.names)))
                await _send(socket, "user.message", session_id=self.session.id, content=content)
        elif event == "agent.user_confirm":
            self.steps.add(told["step_id"])
            if self.random.random() < 0.2:
                self._drop(socket)
            await _send(
                socket,
                "user.response",
                session_id=self.session.id,
                step_id=told["step_id"],
                content={"confirmed": True},
            )
            if self.random.random() < 0.2:
                self._drop(socket)
        if _is_of_the_log(told):
            self.session.is_begun = True
            self.told.add((seq, event))
            self.is_done = event == "agent.final_answer"

    def _drop(self, socket: ClientConnection) -> None:
        socket.transport.abort()
        raise OSError("dropped")

    async def _whole(self) -> set[tuple[int, str]]:
        """What the whole log tells, to a client that stays."""
        told: set[tuple[int, str]] = set()
        async with connect(self.address, ping_interval=None, open_timeout=SECONDS) as socket:
            await _send(socket, "user.reconnect", session_id=self.session.id, metadata={"last_seq": 0})
            async for raw in socket:
                one = json.loads(raw)
                if _is_of_the_log(one):
                    told.add((one["seq"], one["event"]))
                if one["event"] == "agent.final_answer":
                    break
        return told


def _is_of_the_log(told: dict[str, Any]) -> bool:
    event = told["event"]
    return event.startswith("agent.") and event not in LIVE_ONLY and told["metadata"].get("error_type") != "busy"


async def _send(socket: ClientConnection, event: str, **fields: Any) -> None:
    await socket.send(json.dumps({"event": event, **fields}))


async def _run(address: str, count: int, seed: str) -> None:
    sessions = [Session(index) for index in range(count // SHARING)]
    clients = [
        Client(address, sessions[index // SHARING], index % SHARING == 0, random.Random(f"{seed}-{index}"))
        for index in range(count)
    ]
    async with asyncio.timeout(SECONDS):
        lives = await asyncio.gather(*(client.live() for client in clients))
    sys.stdout.write(json.dumps(lives))


if __name__ == "__main__":
    asyncio.run(_run(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
