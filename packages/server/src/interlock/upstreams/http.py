"""An upstream with an address: requests are passed on, with the operator's headers in the place of the host's."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import httpx

from interlock.domain.gateway import UpstreamSettings
from interlock.ports.gateway import Exchange, Reply, UpstreamLost, UpstreamUnreachable

CONNECT_SECONDS = 10.0
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


class HttpUpstream:
    def __init__(self, settings: UpstreamSettings) -> None:
        self.settings = settings
        # How long it may be silent is told by who waits: signs of life on a stream are no answer.
        timeout = httpx.Timeout(None, connect=CONNECT_SECONDS, pool=CONNECT_SECONDS)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        self._client = httpx.AsyncClient(timeout=timeout, limits=limits, trust_env=False)

    @asynccontextmanager
    async def open(self, exchange: Exchange) -> AsyncGenerator[Reply]:
        assert self.settings.url is not None
        body = None if exchange.message is None else json.dumps(exchange.message).encode()
        headers = {**exchange.headers, **self.settings.headers}
        request = self._client.build_request(exchange.method, self.settings.url, headers=headers, content=body)
        try:
            response = await self._client.send(request, stream=True)
        except _NOT_SENT as error:
            raise UpstreamUnreachable(f"{self.settings.name} was not reached: {_reason(error)}") from None
        except httpx.TransportError as error:
            raise UpstreamLost(f"the connection to {self.settings.name} broke: {_reason(error)}") from None
        try:
            yield Reply(response.status_code, dict(response.headers), self._body(response))
        finally:
            await response.aclose()

    async def _body(self, response: httpx.Response) -> AsyncIterator[bytes]:
        try:
            async for chunk in response.aiter_bytes():
                yield chunk
        except httpx.HTTPError as error:
            raise UpstreamLost(f"the connection to {self.settings.name} broke: {_reason(error)}") from None

    async def close(self) -> None:
        await self._client.aclose()


def _reason(error: Exception) -> str:
    """Never with the request, whose headers may hold a secret."""
    return type(error).__name__
