"""The outermost layer: request ids, the access log, and who may talk to this server at all.

A web page that somebody happens to visit must not be able to drive a server on their loopback: a request that a
browser sends for another site is refused, and so is one whose Host is a name that this server does not go by (a page
can point a name of its own at 127.0.0.1, but not make the browser send another Host).
"""

import ipaddress
import logging
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from interlock.domain.errors import RateLimited
from interlock.faces.http.depth import MAX_DEPTH, Depth
from interlock.faces.http.limits import Limits, address_of, whole_seconds
from interlock.faces.http.problems import Problems, public_message, said_in
from interlock.faces.http.sockets import refuse_handshake
from interlock.texts import Locale, limits_text

MAX_BODY = 1024 * 1024
MAX_INPUT = 8 * MAX_BODY
"""Of an input for a graph, which may have images in it."""
INTERFACE = ("/api", "/agent", "/system", "/mcp", "/assistants", "/threads", "/runs", "/info", "/ok", "/channels")
"""What programs use, and no browser may keep or take for a page."""
_INPUTS = re.compile(r"(/threads/[^/]+)?/runs(/stream|/wait)?|/threads/[^/]+/commands")

logger = logging.getLogger("interlock.access")


@dataclass(frozen=True, slots=True)
class AllowedHosts:
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
    def __init__(self, app: ASGIApp, allowed: AllowedHosts, limits: Limits, problems: Problems) -> None:
        self.app = app
        self.allowed = allowed
        self.limits = limits
        self.problems = problems
        self._has_warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = _request_id(headers.get("x-request-id"))
        scope.setdefault("state", {})["request_id"] = request_id
        self._warn_of_proxy(scope, headers)
        answering = _ResponseSender(scope, receive, send, request_id, self.limits, self.problems)
        started = time.monotonic()
        try:
            refusal = self._refusal(scope, headers, answering.locale)
            if refusal is None:
                await self._pass_on(scope, receive, answering)
            else:
                await answering.refuse(*refusal)
        finally:
            _log(scope, answering.status, request_id, time.monotonic() - started)

    def _warn_of_proxy(self, scope: Scope, headers: Headers) -> None:
        """Once: behind a proxy that is not trusted all clients have one address, and share its limits."""
        # Where the proxy is trusted, the address is the one that it told, which has no port.
        address, port = scope.get("client") or ("", 0)
        if self._has_warned or not port or "x-forwarded-for" not in headers:
            return
        self._has_warned = True
        logger.warning(
            "X-Forwarded-For came from %s, which is not among INTERLOCK_TRUSTED_PROXIES: if that is your proxy, name "
            "it there, or limits for one address hold for all of its clients together; else it is not believed",
            address,
        )

    def _refusal(self, scope: Scope, headers: Headers, locale: Locale) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self.allowed.takes_host(host):
            return 403, limits_text("host", locale)
        origin = headers.get("origin")
        if origin is not None and not self.allowed.takes_origin(origin, host):
            return 403, limits_text("origin", locale)
        # A page of another site can make a browser send some requests without an Origin, but not without this.
        if origin is None and headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            is_visit = headers.get("sec-fetch-mode") == "navigate" and scope.get("method") == "GET"
            if not is_visit or scope["path"].startswith(INTERFACE):
                return 403, limits_text("cross_site", locale)
        length, most = headers.get("content-length", "0"), _most(scope)
        if length.isdigit() and int(length) > most:
            return 413, limits_text("body_too_large", locale, most=most)
        return None

    async def _pass_on(self, scope: Scope, receive: Receive, answering: "_ResponseSender") -> None:
        try:
            await self.app(scope, _with_limit(receive, _most(scope), answering.locale), answering)
        except (WebSocketDisconnect, ClientDisconnect):
            # Who has gone is told nothing, and has broken nothing.
            return
        except Exception:
            # Once a response has begun, all that is left is to cut it off.
            if answering.status and scope["type"] == "http":
                raise
            logger.exception("request failed", extra={"request_id": scope["state"]["request_id"]})
            await answering.fail()


class _ResponseSender:
    """Sends the answer, with the request's id on it, and knows its status.

    Who is not authenticated too often is told to slow down instead. Here, and not before the request is looked at:
    others may share the address, and must not be refused for it.
    """

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, request_id: str, limits: Limits, problems: Problems
    ) -> None:
        self.status = 0
        self._scope = scope
        self._receive = receive
        self._send = send
        self._request_id = request_id
        self._limits = limits
        self._problems = problems
        self.locale: Locale = said_in(HTTPConnection(scope))
        self._is_replaced = False

    async def __call__(self, message: Message) -> None:
        if self._is_replaced:
            return
        kind = message["type"]
        if kind in ("http.response.start", "websocket.http.response.start"):
            if message["status"] == 401 and await self._slow_down(message):
                return
            self._begin(message["status"], message)
        elif kind == "websocket.accept":
            self._begin(101, message)
        elif kind == "websocket.close":
            # Before it was accepted, this is how a handshake is refused without a word.
            self.status = self.status or 403
        await self._send(message)

    async def refuse(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        response = self._problems.turn_away(HTTPConnection(self._scope), status, detail, headers or {})
        self.status = status
        response.headers["x-request-id"] = self._request_id
        if self._scope["type"] == "websocket":
            await refuse_handshake(self._scope, self._send, response)
        else:
            await response(self._scope, self._receive, self._send)

    async def fail(self) -> None:
        if not self.status:
            await self.refuse(500, limits_text("server_failed", self.locale))
            return
        # Unless the socket was closed before.
        with suppress(RuntimeError, OSError):
            await self._send(
                {"type": "websocket.close", "code": 1011, "reason": limits_text("server_failed", self.locale)}
            )

    async def _slow_down(self, message: Message) -> bool:
        try:
            self._limits.refuse(address_of(self._scope))
        except RateLimited as error:
            # A page of an allowed origin may read only what says so.
            sent = Headers(raw=list(message.get("headers", ())))
            kept = {name: value for name, value in sent.items() if name.startswith("access-control-")}
            self._is_replaced = True
            await self.refuse(
                429, public_message(error, self.locale), {**kept, "retry-after": whole_seconds(error.retry_after)}
            )
            return True
        return False

    def _begin(self, status: int, message: Message) -> None:
        self.status = status
        message.setdefault("headers", [])
        headers = MutableHeaders(scope=message)
        headers["x-request-id"] = self._request_id
        if self._scope["path"].startswith(INTERFACE):
            headers.setdefault("cache-control", "no-store")
            headers.setdefault("x-content-type-options", "nosniff")


class BodyTooLarge(HTTPException):
    """A body without a length turned out to be longer than one may be."""

    def __init__(self, most: int, locale: Locale) -> None:
        super().__init__(413, limits_text("body_too_large", locale, most=most))


class BodyTooDeep(HTTPException):
    """A body that a parser must not see."""

    def __init__(self, locale: Locale) -> None:
        super().__init__(400, limits_text("body_too_deep", locale, most=MAX_DEPTH))


def _most(scope: Scope) -> int:
    return MAX_INPUT if _INPUTS.fullmatch(scope["path"]) else MAX_BODY


def _with_limit(receive: Receive, most: int, locale: Locale) -> Receive:
    seen = 0
    depth = Depth()

    async def receive_within_limit() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            body = message.get("body", b"")
            seen += len(body)
            if seen > most:
                raise BodyTooLarge(most, locale)
            if depth.exceeds(body):
                raise BodyTooDeep(locale)
        return message

    return receive_within_limit


def _request_id(given: str | None) -> str:
    """The caller's own id if it is a plain one, so that a request can be found in both logs."""
    if given and len(given) <= 64 and given.replace("-", "").replace("_", "").isalnum() and given.isascii():
        return given
    return secrets.token_hex(8)


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


def is_click(connection: HTTPConnection) -> bool:
    """Whether a person's browser sent it: browsers say where a request comes from, and programs do not double-click."""
    return any(name in connection.headers for name in ("origin", "sec-fetch-site"))


def is_fetched(connection: HTTPConnection) -> bool:
    """Whether `fetch` sent it, in a browser or on a server of pages, which passes on what a browser sent."""
    return is_click(connection) or "sec-fetch-mode" in connection.headers


SMALLEST = 1024
LEVEL = 6


class Compression:
    """Compresses replies in bulk, and only replies to a GET.

    How long a compressed reply is tells an onlooker whether two parts of it are alike: next to a text that somebody
    else chose, a secret could be guessed piece by piece. Tokens, keys, tickets and the values that people gave in
    confidence are replies to a POST, and go out as they are. So do streams.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._plain = app
        self._compressor = GZipMiddleware(app, minimum_size=SMALLEST, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._compressor if _may_be_compressed(scope) else self._plain)(scope, receive, send)


def _may_be_compressed(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] == "GET" and scope["path"].startswith(INTERFACE)
