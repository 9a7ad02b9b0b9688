"""HTTP underneath the client: credentials, server-sent events, errors in one tree, trying again where that is safe."""

import asyncio
import json
import math
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from ssl import SSLContext
from typing import Any, TypeVar, cast
from urllib.parse import quote, unquote

import httpx
from pydantic import BaseModel, ValidationError

from interlock_client._patience import Patience
from interlock_client.errors import (
    InterlockError,
    InvalidInput,
    NetworkError,
    RateLimited,
    ServerFailed,
    ServerUnavailable,
    error_of,
)
from interlock_client.hitl import Done

HITL = "/api/v1/agent/hitl"
HIGHEST_PORT = 65_535
SILENCE = 50.0
"""Seconds, for streams that give a sign of life every 15."""
AMBIGUOUS = (502, 504)
"""What stands in between may have passed the request on."""

M = TypeVar("M", bound=BaseModel)

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True, slots=True)
class Frame:
    event: str
    data: dict[str, Any] | None
    """None: the frame only says from where to go on."""
    id: str | None


async def frames(chunks: AsyncIterator[bytes]) -> AsyncIterator[Frame]:
    """The frames of a stream; comments, which are signs of life, are left out. A frame that was cut off is not told."""
    fields: dict[str, str] = {}
    async for line in _lines(chunks):
        if not line:
            if "data" in fields or "id" in fields:
                yield _frame(fields)
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Split at the line breaks of the format only, and not at every one that Unicode knows."""
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")


def _frame(fields: dict[str, str]) -> Frame:
    try:
        data: Any = json.loads(fields["data"]) if "data" in fields else None
    except ValueError as error:
        raise ServerFailed("the stream holds an event that is not JSON") from error
    if data is not None and not isinstance(data, dict):
        raise ServerFailed("the stream holds an event that is no object")
    return Frame(fields.get("event", "message"), cast("dict[str, Any] | None", data), fields.get("id"))


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    path: str
    body: Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    repeatable: bool = False
    """Whether sending it again does no harm when it had arrived: it only looks, or carries an idempotency key."""
    holds: float = 0.0
    """Seconds for which the server may hold the reply."""
    silence: float = SILENCE
    """Of a stream: after so many seconds without a sign of life the connection is taken for dead."""


class Transport:
    def __init__(
        self,
        url: str,
        *,
        credential: str | None,
        user: str | None,
        locale: str | None,
        timeout: float,
        patience: float,
    ) -> None:
        self.url = _check_url(url)
        self.user = user
        self.timeout = timeout
        self.patience = patience
        headers = {"accept-language": locale} if locale else {}
        if credential:
            headers["authorization"] = f"Bearer {_clean(credential)}"
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers=headers,
            params={"user_id": user} if user else None,
            timeout=timeout,
            limits=httpx.Limits(max_connections=1_000, max_keepalive_connections=20),
            verify=_authorities(),
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def fetch(self, model: type[M], call: Call, patience: Patience | None = None) -> M:
        """Make the call, and read its reply; tries again while it is safe and patience lasts."""
        response = await self._send(call, patience or Patience(self.patience))
        try:
            # What a newer server says more is no error.
            return model.model_validate_json(response.content, extra="ignore")
        except ValidationError as error:
            raise ServerFailed(f"{self.url} gave a reply that is none of Interlock's: is the address right?") from error

    async def _send(self, call: Call, patience: Patience) -> httpx.Response:
        while True:
            try:
                async with self._attempt(call, self.timeout + call.holds) as response:
                    await response.aread()
                    return response
            except (NetworkError, RateLimited, ServerUnavailable) as error:
                if not (call.repeatable or _did_nothing(error)):
                    raise
                await patience.pause(error)

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncGenerator[tuple[httpx.Headers, AsyncIterator[Frame]]]:
        """One attempt at a stream of events. `NetworkError` from within when it breaks off."""
        async with self._attempt(call, call.silence) as response:
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                raise ServerFailed(f"{self.url} gave no stream: is the address right?")
            yield response.headers, frames(response.aiter_bytes())

    @asynccontextmanager
    async def _attempt(self, call: Call, read_timeout: float) -> AsyncGenerator[httpx.Response]:
        request = self._request(call, httpx.Timeout(self.timeout, read=read_timeout))
        try:
            response = await self._http.send(request, stream=True)
            try:
                if not response.is_success:
                    await response.aread()
                    raise _error(response)
                yield response
            finally:
                await response.aclose()
        except httpx.RequestError as error:
            sent = not isinstance(error, _NOT_SENT)
            what = "the connection broke" if sent else "cannot be reached"
            raise NetworkError(f"{self.url}: {what} ({_reason(error)})", details={"sent": sent}) from error

    def _request(self, call: Call, timeout: httpx.Timeout) -> httpx.Request:
        headers = dict(call.headers)
        content = None
        try:
            if call.body is not None:
                headers["content-type"] = "application/json"
                content = json.dumps(call.body, allow_nan=False).encode()
            params = _without_none(call.params)
            return self._http.build_request(
                call.method, call.path, content=content, params=params, headers=headers, timeout=timeout
            )
        except (httpx.InvalidURL, TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(f"this cannot be sent: {error}") from error


def segment(text: str) -> str:
    """A part of a path, whatever letters it has."""
    if not text:
        raise InvalidInput("an id must not be empty")
    return quote(text, safe="")


def thread_id_of(headers: Mapping[str, str]) -> str:
    return unquote(headers.get("x-thread-id", ""))


def _without_none(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def _did_nothing(error: InterlockError) -> bool:
    if isinstance(error, NetworkError):
        return error.details["sent"] is False
    # A server that tells a state has begun with what was asked for.
    return error.status not in AMBIGUOUS and "status" not in error.details


def _error(response: httpx.Response) -> InterlockError:
    try:
        body: Any = response.json()
    except ValueError:
        body = None
    return error_of(response.status_code, body, _seconds(response.headers.get("retry-after")))


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _reason(error: httpx.RequestError) -> str:
    return str(error) or type(error).__name__


def _clean(credential: str) -> str:
    text = credential.strip()
    if not text.isascii() or not text.isprintable() or " " in text:
        raise InvalidInput("the credential has characters that no key and no token has")
    return text


@cache
def _authorities() -> SSLContext:
    """Their certificates are read once, not by every client of a process."""
    return httpx.create_ssl_context()


def _check_url(url: str) -> str:
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in ("http", "https") or not address.host or (address.port or 0) > HIGHEST_PORT:
        raise InvalidInput(f"{url!r} is no address of a server: it begins with http:// or https://")
    if address.userinfo:
        raise InvalidInput("an address holds no credential: give it as key or token")
    return url.rstrip("/")


class Part:
    """What the parts of the client stand on: one transport, replies in the envelope of the hitl face or without."""

    def __init__(self, transport: Transport, agent: str | None = None, conversation_id: str | None = None) -> None:
        self._transport = transport
        self._agent = agent
        self.conversation_id: str | None = conversation_id
        """Where this client asks; the first ask begins one, unless it was given."""
        self._begin_lock = asyncio.Lock()

    async def _fetch_data(self, model: type[M], call: Call, patience: Patience | None = None) -> M:
        envelope = await self._transport.fetch(Done[model], call, patience)
        return envelope.data

    async def _got(self, model: type[M], path: str, params: Mapping[str, Any] | None = None) -> M:
        return await self._transport.fetch(model, Call("GET", path, params=params or {}, repeatable=True))

    def _new_key(self) -> dict[str, str]:
        """Made once for a call, however often it is sent."""
        return {"idempotency-key": secrets.token_hex(16)}

    def _body(self, **fields: Any) -> dict[str, Any]:
        """With who is calling, for a server that runs without accounts; unset fields are left out."""
        fields_of_caller = {"user_id": self._transport.user, **fields}
        return {name: value for name, value in fields_of_caller.items() if value is not None}
