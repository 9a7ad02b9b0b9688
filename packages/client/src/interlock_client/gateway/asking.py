"""What the gateway beside a host asks of the server, and tells it."""

import asyncio
import json
import os
import time
from dataclasses import dataclass
from typing import Any, cast

import httpx

WAIT_SECONDS = 20.0
PATIENCE = 30.0
"""For so long a server that cannot be reached is tried again: it may be restarting."""
_JSON = {"content-type": "application/json"}
_BUSY = frozenset({429, 502, 503, 504})

Json = dict[str, Any]


class ServerUnreachable(Exception):
    """Nobody can be asked."""


class Refused(Exception):
    """The server does not take it."""


@dataclass(slots=True)
class Server:
    """The server's side of the gateway. A reply that is lost is asked for again: the server knows each call."""

    http: httpx.AsyncClient

    async def ask(self, call: Json) -> Json:
        """Until there is an answer: `run`, or `result`.

        Each ask has a holder of its own. With one for the process, the same call twice at once were both told to run.
        """
        holder = f"{os.getpid()}-{os.urandom(8).hex()}"
        reply = await self._wait("/mcp/calls", {**call, "holder": holder, "wait_seconds": WAIT_SECONDS})
        return {**reply, "holder": holder}

    async def report_lost(self, call: Json, *, wait: bool = True) -> Json:
        """The same, of a call that was sent as `call` and not answered."""
        body = {"holder": call["holder"], "outcome": "lost", "wait_seconds": WAIT_SECONDS if wait else 0}
        path = f"/mcp/calls/{call['call_id']}"
        again = await self._wait(path, body) if wait else await self._post(path, body)
        return {**again, "holder": call["holder"]}

    async def end(self, call: Json, outcome: str, **fields: Any) -> None:
        await self._post(f"/mcp/calls/{call['call_id']}", {"holder": call["holder"], "outcome": outcome, **fields})

    async def _wait(self, path: str, body: Json) -> Json:
        while (reply := await self._post(path, body))["outcome"] == "pending":
            pass
        return reply

    async def _post(self, path: str, body: Json) -> Json:
        until = time.monotonic() + PATIENCE
        # With escapes: what a host or a server says may have half a character in it.
        content = json.dumps(body).encode()
        while True:
            try:
                reply = await self.http.post(path, content=content, headers=_JSON, timeout=WAIT_SECONDS + 30)
            except httpx.TransportError as error:
                reason = type(error).__name__
            else:
                if reply.status_code not in _BUSY:
                    return _read(reply)
                reason = str(reply.status_code)
            if time.monotonic() >= until:
                raise ServerUnreachable(f"Interlock cannot be reached at {self.http.base_url} ({reason})")
            await asyncio.sleep(0.5)


def _read(reply: httpx.Response) -> Json:
    try:
        body: Any = reply.json()
    except ValueError:
        body = None
    if reply.status_code != 200 or not isinstance(body, dict):
        raise Refused(f"Interlock answered {reply.status_code}: {reply.text[:500]}")
    return cast("Json", body)
