"""Many requests at the same moment: every connection is open before the first byte is sent."""

import asyncio
import json
import signal
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.support.server import ServerProcess

RACE_SECONDS = 90.0


@dataclass(frozen=True)
class Shot:
    url: str
    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0
    """Seconds after the start of the race."""


@dataclass(frozen=True)
class Outcome:
    shot: Shot
    status: int
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)


def race(shots: Sequence[Shot], *, unread_by: Sequence[ServerProcess] = ()) -> list[Outcome]:
    """Send all of them at once, and read each reply, streams too, to its end; those servers read none of them before
    all are sent, however busy the machine is."""

    async def run() -> list[Outcome]:
        start, sent = asyncio.Barrier(len(shots)), asyncio.Barrier(len(shots) + 1)
        async with asyncio.timeout(RACE_SECONDS):
            fired = asyncio.gather(*(_fire(shot, start, sent) for shot in shots))
            with _stopped(unread_by):
                await sent.wait()
            return await fired

    return asyncio.run(run())


@contextmanager
def _stopped(servers: Sequence[ServerProcess]) -> Generator[None]:
    for server in servers:
        server.running.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for server in servers:
            server.running.send_signal(signal.SIGCONT)


async def _fire(shot: Shot, start: asyncio.Barrier, sent: asyncio.Barrier) -> Outcome:
    address = urlsplit(shot.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    body = json.dumps(shot.body).encode()
    lines = [
        f"POST {shot.path} HTTP/1.1",
        f"host: {address.netloc}",
        "connection: close",
        "content-type: application/json",
        f"content-length: {len(body)}",
        *(f"{name}: {value}" for name, value in shot.headers.items()),
    ]
    await start.wait()
    await asyncio.sleep(shot.delay)
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    await sent.wait()
    reply = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    head, _, text = reply.partition("\r\n\r\n")
    return Outcome(shot, int(head.split(" ")[1]), text)
