"""The outermost layer: request ids, the access log, and who may talk to this server at all.

A web page that somebody happens to visit must not be able to drive a server on their loopback: a request that a
browser sends for another site is refused, and so is one whose Host is a name that this server does not go by (a page
can point a name of its own at 127.0.0.1, but not make the browser send another Host).
"""

import ipaddress
import json
import logging
import secrets
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 1024 * 1024
TOO_LARGE = f"a body has {MAX_BODY} bytes at the most"

logger = logging.getLogger("interlock.access")


@dataclass(frozen=True, slots=True)
class Allowed:
    """By which names the server goes, and which other origins may use it."""

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = field(default_factory=frozenset[str])
    any_address: bool = False
    """Whether any IP address is taken as a Host: when the server listens beyond loopback."""

    def takes_host(self, host: str) -> bool:
        name = _host_name(host)
        if name in self.hosts or name == "localhost":
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.any_address or address.is_loopback

    def takes_origin(self, origin: str, host: str) -> bool:
        if origin in self.origins:
            return True
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


class Guard:
    def __init__(self, app: ASGIApp, allowed: Allowed) -> None:
        self.app = app
        self.allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = _request_id(headers.get("x-request-id"))
        scope.setdefault("state", {})["request_id"] = request_id
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(scope, send, request_id, *refusal)
            _log(scope, refusal[0], request_id, 0.0)
            return
        await self._pass_on(scope, receive, send, request_id)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self.allowed.takes_host(host):
            return 403, "this server does not go by that Host; name it in INTERLOCK_ALLOWED_HOSTS"
        origin = headers.get("origin")
        if origin is not None and not self.allowed.takes_origin(origin, host):
            return 403, "requests from this Origin are not taken; name it in INTERLOCK_ALLOWED_ORIGINS"
        # A page of another site can make a browser send some requests without an Origin, but not without this.
        if origin is None and headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            is_visit = headers.get("sec-fetch-mode") == "navigate" and scope.get("method") == "GET"
            if not is_visit or scope["path"].startswith("/api"):
                return 403, "requests that another site makes are not taken"
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > MAX_BODY:
            return 413, TOO_LARGE
        return None

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        started = time.monotonic()
        status = 0

        async def tell(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = request_id
            await send(message)

        try:
            await self.app(scope, _bounded(receive), tell)
        except Exception:
            # Once a response has begun, all that is left is to cut it off.
            if status:
                raise
            status = 500
            logger.exception("request failed", extra={"request_id": request_id})
            await _refuse(scope, send, request_id, status, "the server failed; its log has more under this request id")
        finally:
            _log(scope, status, request_id, time.monotonic() - started)


class BodyTooLarge(HTTPException):
    """A body without a length turned out to be longer than one may be."""

    def __init__(self) -> None:
        super().__init__(413, TOO_LARGE)


def _bounded(receive: Receive) -> Receive:
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > MAX_BODY:
                raise BodyTooLarge
        return message

    return bounded


def _request_id(given: str | None) -> str:
    """The caller's own id if it is a plain one, so that a request can be found in both logs."""
    if given and len(given) <= 64 and given.replace("-", "").replace("_", "").isalnum() and given.isascii():
        return given
    return secrets.token_hex(8)


async def _refuse(scope: Scope, send: Send, request_id: str, status: int, detail: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": detail})
        return
    headers = [(b"content-type", b"application/json"), (b"x-request-id", request_id.encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"detail": detail}).encode()})


def _log(scope: Scope, status: int, request_id: str, seconds: float) -> None:
    # The path only: a query may hold a ticket.
    logger.info(
        "request",
        extra={
            "method": scope.get("method", "WEBSOCKET"),
            "path": scope["path"],
            "status": status,
            "request_id": request_id,
            "ms": round(seconds * 1000, 1),
        },
    )
