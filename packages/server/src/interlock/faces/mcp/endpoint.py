"""`/mcp`: streamable HTTP without sessions. Any server takes any request, and nothing is lost with a process."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

from fastapi import Request
from mcp import MCPError
from mcp.server.caching import CacheHint
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_PARAMS, CallToolRequestParams, ListToolsResult, PaginatedRequestParams
from pydantic import ValidationError
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from interlock import __version__
from interlock.domain.errors import InterlockError
from interlock.domain.principal import Principal
from interlock.faces.http.credentials import authenticate
from interlock.faces.http.guard import MAX_BODY
from interlock.faces.http.server_state import state_of
from interlock.faces.mcp import tasks
from interlock.faces.mcp.arguments import LONGEST_SECONDS, wrong_arguments
from interlock.faces.mcp.calls import TASKS, Call
from interlock.faces.mcp.results import refusal
from interlock.faces.mcp.tools import ROWS, TOOLS

PATH = "/mcp"
NAME = "interlock"
INSTRUCTIONS = (
    "Ask a person with these tools before you do what cannot be undone, and whenever only a person can know or decide. "
    "A result with status pending is not a yes: call wait with its request_id, and do not go on until it is settled."
)
LISTED_MS = 3_600_000

logger = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]


async def _list(_context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=TOOLS)


async def _call(context: Context, params: CallToolRequestParams) -> HandlerResult:
    row = ROWS.get(params.name)
    if row is None:
        raise MCPError(INVALID_PARAMS, f"there is no tool {params.name!r}; there are {', '.join(ROWS)}")
    try:
        arguments = row.arguments.model_validate(params.arguments or {})
        return await row.run(await Call.of(params.name, context, params.request_state), arguments)
    except ValidationError as error:
        return refusal(wrong_arguments(cast("Any", error.errors(include_input=False, include_url=False))))
    except InterlockError as error:
        return refusal(error)


def _principal(context: Context) -> str:
    known: Principal = cast("Request", context.request).state.known.principal
    return known.id


class McpEndpoint:
    """An ASGI application behind our own guard and credentials: every face knows the same callers and bounds."""

    def __init__(self, key: bytes) -> None:
        """`key` seals what clients carry between two rounds of a call; every server on the database has the same."""
        server: Server[Any] = Server(
            NAME,
            version=__version__,
            title="Interlock",
            instructions=INSTRUCTIONS,
            cache_hints={"tools/list": CacheHint(LISTED_MS, "private")},
            on_list_tools=_list,
        )
        server.add_request_handler("tools/call", CallToolRequestParams, _call)
        for method, handler in tasks.METHODS.items():
            server.add_request_handler(method, tasks.TaskParams, handler)
        server.extensions[TASKS] = {}
        # For as long as a request may wait: whether it still does is for the store to say.
        sealed = RequestStateSecurity(keys=[key], ttl=LONGEST_SECONDS, bind_principal=_principal)
        server.middleware.append(RequestStateBoundary(sealed, default_audience=NAME))
        self._warned: set[str] = set()
        # Hosts and origins are the guard's: it has looked at them, and knows what the operator allows.
        self._manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=MAX_BODY)

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self._warn_of(await authenticate(request), request)
        await self._manager.handle_request(scope, receive, send)

    def _warn_of(self, caller: Principal, request: Request) -> None:
        """Once for each person: what they could do themselves, whoever reads the settings of their host can."""
        if caller.is_agent or caller.id in self._warned or not state_of(request).with_accounts:
            return
        self._warned.add(caller.id)
        logger.warning(
            "%s uses /mcp with a credential of their own, with which everything of theirs can be read and answered: "
            "give the host an agent's key (Settings, API keys, or `interlock keys create --role agent`)",
            caller.name,
        )

    @property
    def route(self) -> Route:
        # Without sessions a GET would be a stream on which nothing is ever said, and there is nothing to DELETE.
        return Route(PATH, self, methods=["POST"])
