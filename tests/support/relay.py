"""A connection that can be cut: between a client and a server, at an address of its own that stays."""

import asyncio
import re
import socket
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

REQUEST = re.compile(rb"^(?:GET|POST) ([^ ?]+)\S* HTTP/1.1\r$", re.MULTILINE)


class Relay:
    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port: int = probe.getsockname()[1]
        self._server: asyncio.Server | None = None
        self._links: set[asyncio.Task[None]] = set()
        self.deaf = False
        """What is sent arrives, and no reply comes back."""
        self.requests: list[str] = []
        """The paths of what was sent."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def mend(self) -> None:
        self.deaf = False
        self._server = await asyncio.start_server(self._linked, "127.0.0.1", self._port)

    async def cut(self) -> None:
        assert self._server is not None
        self._server.close()
        links = tuple(self._links)
        for link in links:
            link.cancel()
        await asyncio.gather(*links, return_exceptions=True)

    async def _linked(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        with suppress(OSError, asyncio.CancelledError):
            there, away = await asyncio.open_connection(self._target.hostname, self._target.port)
            try:
                await asyncio.gather(self._pass(reader, away), self._pass(there, writer, is_reply=True))
            finally:
                away.close()
        writer.close()
        self._links.discard(task)

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_reply: bool = False
    ) -> None:
        while data := await reader.read(65536):
            if is_reply and self.deaf:
                continue
            if not is_reply:
                self.requests += [path.decode() for path in REQUEST.findall(data)]
            writer.write(data)
            await writer.drain()
        writer.close()

    async def __aenter__(self) -> Self:
        await self.mend()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cut()
