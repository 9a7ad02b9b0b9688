"""`/mcp/g/NAME`: an upstream behind this server. Everything but calls of tools is passed on as it is."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from fastapi import Request
from mcp.shared.inbound import decode_header_value
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from interlock.domain.errors import FieldError, InvalidInput, NotFound
from interlock.domain.json_value import JsonObject, member
from interlock.domain.principal import Principal
from interlock.faces.gateway.messages import HostReply, attend
from interlock.faces.gateway.served_call import CallsInFlight, ServedCall
from interlock.faces.gateway.tools import ToolLists
from interlock.faces.http.credentials import authenticate
from interlock.faces.http.server_state import state_of
from interlock.ports.gateway import Exchange, Upstream, UpstreamLost, UpstreamUnreachable
from interlock_client.gateway.reading import CALL, NotTaken, read_message

PATH = "/mcp/g/{name}"
LISTEN = "subscriptions/listen"
GRACE_SECONDS = 5.0
_PASSED_HEADERS = ("content-type", "mcp-session-id", "cache-control", "retry-after", "allow", "mcp-protocol-version")
"""Of upstream's headers, those that are for the host."""
_OWN = ("accept", "last-event-id")
"""Of the host's headers, those that are for upstream, beside the protocol's own."""
_JSON = {"content-type": "application/json"}
"""Of what is sent on. What the host says of its body is not: upstream might decode it by another character set."""
SESSION = "mcp-session-id"
_CREDENTIALS = (401, 403)


@dataclass(slots=True)
class GatewayEndpoint:
    upstreams: Sequence[Upstream]
    _lists: dict[str, ToolLists] = field(init=False)
    _underway: CallsInFlight = field(default_factory=CallsInFlight)
    _waiting: dict[tuple[str, ...], asyncio.Task[None]] = field(default_factory=dict[Any, Any])
    """Calls that can still be taken back, by their places."""

    def __post_init__(self) -> None:
        self._lists = {upstream.settings.name: ToolLists(upstream) for upstream in self.upstreams}

    @property
    def route(self) -> Route:
        return Route(PATH, self, methods=["POST", "GET", "DELETE"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        principal = await authenticate(request)
        lists = self._lists_of(request.path_params["name"])
        exchange = Exchange(request.method, _caller(request, principal), _headers(request), await _message(request))
        message = exchange.message or {}
        if message.get("method") == CALL:
            await self._call(request, principal, lists, exchange, send)
            return
        if message.get("method") == "notifications/cancelled":
            self._take_back(exchange, lists)
        elif message.get("method") == "tools/list":
            # However long upstream says that its list holds: people are shown what the host has read.
            lists.forget(exchange)
        is_stream = exchange.method == "GET" or message.get("method") == LISTEN
        with state_of(request).limits.stream(principal.person_id) if is_stream else nullcontext():
            work = _pass_on(lists.upstream, exchange, scope, receive, send)
            await attend(request, work, is_stream=is_stream)

    def _lists_of(self, name: str) -> ToolLists:
        if name not in self._lists:
            near = get_close_matches(name, self._lists, 1)
            hint = f"is {near[0]} meant?" if near else f"there are {', '.join(self._lists) or 'none'}"
            raise NotFound(f"this gateway has no server {name!r}; {hint}")
        return self._lists[name]

    async def _call(
        self, request: Request, principal: Principal, lists: ToolLists, exchange: Exchange, send: Send
    ) -> None:
        message = exchange.message or {}
        host = HostReply(send, message["id"], member(message, "params", "_meta", "progressToken"))
        call = ServedCall(request, principal, lists.upstream, lists, self._underway, exchange, host)
        where = _place(exchange, lists, message["id"])
        task = asyncio.ensure_future(call.run())
        self._waiting[where] = task
        try:
            await attend(request, task)
        finally:
            if self._waiting.get(where) is task:
                self._waiting.pop(where)

    def _take_back(self, exchange: Exchange, lists: ToolLists) -> None:
        request_id = member(exchange.message, "params", "requestId")
        if (task := self._waiting.get(_place(exchange, lists, request_id))) is not None:
            task.cancel()

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            # A moment for what is under way, so that its end is recorded.
            if self._underway.tasks:
                await asyncio.wait(self._underway.tasks, timeout=GRACE_SECONDS)
            for upstream in self.upstreams:
                await upstream.close()


def _place(exchange: Exchange, lists: ToolLists, message_id: Any) -> tuple[str, ...]:
    """By what a host means one of its calls. Several hosts may have one key, and count from the same number."""
    session = exchange.headers.get(SESSION, "")
    return exchange.caller, lists.upstream.settings.name, session, json.dumps(message_id)


def _caller(request: Request, principal: Principal) -> str:
    return f"{principal.id} {request.query_params.get('conversation', '')}"


def _headers(request: Request) -> dict[str, str]:
    given = {name: value for name, value in request.headers.items() if name.startswith("mcp-") or name in _OWN}
    return given | _JSON if request.method == "POST" else given


async def _message(request: Request) -> JsonObject | None:
    if request.method != "POST":
        return None
    try:
        message: JsonObject = read_message(await request.body())
    except NotTaken as error:
        text = f"the body must be one JSON-RPC message: {error}"
        raise InvalidInput(text, [FieldError("body", "form", text)]) from None
    for name in _headers(request):
        if len(request.headers.getlist(name)) > 1:
            # One of them would be checked here, and another one read behind.
            text = f"the header {name} stands more than once"
            raise InvalidInput(text, [FieldError(name, "form", text)])
    method = request.headers.get("mcp-method")
    if method is not None and method != message.get("method"):
        # Upstream may go by either.
        text = "the header mcp-method does not name the method of the message"
        raise InvalidInput(text, [FieldError("mcp-method", "form", text)])
    tool = request.headers.get("mcp-name")
    is_named = tool is None or decode_header_value(tool) == member(message, "params", "name")
    if message.get("method") == CALL and not is_named:
        text = "the header mcp-name does not name the tool of the call"
        raise InvalidInput(text, [FieldError("mcp-name", "form", text)])
    return message


async def _pass_on(upstream: Upstream, exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
    is_begun = False
    try:
        async with upstream.open(exchange) as reply:
            if reply.status in _CREDENTIALS:
                # Its challenge is for the gateway, and must not start a sign-in of the host's.
                raise UpstreamLost(f"{upstream.settings.name} does not take the gateway's credentials")
            headers = [
                (name.encode(), reply.headers[name].encode()) for name in _PASSED_HEADERS if name in reply.headers
            ]
            is_begun = True
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            async for chunk in reply.body:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
    except (UpstreamLost, UpstreamUnreachable) as error:
        if is_begun:
            # The host sees that its stream ended early, as it would without the gateway.
            await send({"type": "http.response.body", "body": b""})
        else:
            await _failure(exchange, str(error))(scope, receive, send)


def _failure(exchange: Exchange, reason: str) -> Response:
    message = exchange.message or {}
    if "id" not in message:
        return JSONResponse({"detail": reason}, 502)
    error = {"code": -32603, "message": reason}
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": error})
