"""The HTTP application: every face mounted over one core."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from interlock import __version__
from interlock.domain.errors import StorageUnavailable
from interlock.faces.agui import endpoint as agui
from interlock.faces.callbacks import answer_links
from interlock.faces.callbacks import endpoint as callbacks
from interlock.faces.confirm import socket as confirm
from interlock.faces.gateway import remote
from interlock.faces.gateway.endpoint import GatewayEndpoint
from interlock.faces.hitl import requests, socket, streaming
from interlock.faces.hitl.envelope import Envelope
from interlock.faces.hooks import claude_code
from interlock.faces.hooks.hook_calls import HookCalls
from interlock.faces.http.documented import Responses, refusals
from interlock.faces.http.guard import AllowedHosts, Compression, Guard
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.http.problems import ErrorFormat, Problems
from interlock.faces.http.server_state import ServerState
from interlock.faces.inbox import conversations as inbox_conversations
from interlock.faces.inbox import history as inbox_history
from interlock.faces.inbox import requests as inbox_requests
from interlock.faces.inbox import session as inbox_session
from interlock.faces.inbox import streaming as inbox_streaming
from interlock.faces.inbox import teams as inbox_teams
from interlock.faces.langgraph import assistants as lg_assistants
from interlock.faces.langgraph import many as lg_many
from interlock.faces.langgraph import protocol as lg_protocol
from interlock.faces.langgraph import runs as lg_runs
from interlock.faces.langgraph import thread_stream as lg_thread_stream
from interlock.faces.langgraph import threads as lg_threads
from interlock.faces.langgraph.errors import LanggraphErrorFormat
from interlock.faces.manage import (
    account,
    audit,
    channels,
    figures,
    grants,
    groups,
    keys,
    metrics,
    people,
    policy,
    sign_on,
    webhooks,
)
from interlock.faces.mcp.endpoint import McpEndpoint
from interlock.faces.sessions import invoking
from interlock.faces.sessions.errors import SessionsErrorFormat
from interlock.faces.threads import accounts, chat, sessions
from interlock.faces.web.pages import Pages
from interlock.faces.web.reference import add_reference
from interlock.ports.gateway import Upstream
from interlock_client.threads import Health

_INBOX = (inbox_session, inbox_requests, inbox_teams, inbox_streaming, inbox_conversations, inbox_history)
_LANGGRAPH = (lg_assistants, lg_threads, lg_many, lg_runs, lg_thread_stream, lg_protocol)
ERROR_FORMATS: dict[str, ErrorFormat] = {
    "/api/v1/agent": Envelope(),
    "/agent": SessionsErrorFormat(),
    "/api/v1/hooks": claude_code.HookErrorFormat(),
    **dict.fromkeys(("/assistants", "/threads", "/runs"), LanggraphErrorFormat()),
}
"""Paths whose errors have a form of their own."""
_PARTS = (
    accounts,
    account,
    groups,
    people,
    sign_on,
    sessions,
    chat,
    invoking,
    requests,
    streaming,
    socket,
    confirm,
    keys,
    grants,
    audit,
    policy,
    webhooks,
    channels,
    callbacks,
    answer_links,
    metrics,
    figures,
    claude_code,
    agui,
)

HEADERS_TAKEN = (
    "authorization",
    "cache-control",
    "content-type",
    "idempotency-key",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "prefer",
    "x-api-key",
    "x-auth-scheme",
    "x-on-disconnect",
    "x-request-id",
)
"""Of pages of other origins."""
HEADERS_EXPOSED = (
    "content-location",
    "location",
    "retry-after",
    "x-pagination-next",
    "x-pagination-total",
    "x-request-id",
    "x-thread-id",
)
"""What such pages may read."""

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create_app(
    state: ServerState, allowed: AllowedHosts, lifespan: Lifespan, web: Pages, upstreams: Sequence[Upstream] = ()
) -> FastAPI:
    mcp, gateway = McpEndpoint(state.round_key), GatewayEndpoint(upstreams)

    @asynccontextmanager
    async def run_faces(app: FastAPI) -> AsyncGenerator[None]:
        async with lifespan(app), mcp.run(), gateway.run():
            yield

    app = FastAPI(
        title="Interlock",
        version=__version__,
        lifespan=run_faces,
        docs_url=None,
        redoc_url=None,
        default_response_class=LenientJSONResponse,
    )
    app.state.server = state
    app.state.held_calls = HookCalls()
    problems = Problems(ERROR_FORMATS)
    problems.install(app)
    for part in (*_PARTS, *_INBOX, *_LANGGRAPH):
        app.include_router(part.router)
    beside = {"mcp (Model Context Protocol)": [mcp.route], "mcp gateway": [gateway.route, *remote.ROUTES]}
    app.router.routes += [route for routes in beside.values() for route in routes]
    app.include_router(web)
    _serve_unknown_addresses(app, web)
    add_reference(app, beside)
    _add_probes(app, state)
    if allowed.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(allowed.origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=HEADERS_TAKEN,
            expose_headers=HEADERS_EXPOSED,
            allow_private_network=True,
        )
    app.add_middleware(Compression)
    app.add_middleware(Guard, allowed=allowed, limits=state.limits, problems=problems)
    return app


def _serve_unknown_addresses(app: FastAPI, web: Pages) -> None:
    unknown = app.router.default

    async def serve_not_found(scope: Scope, receive: Receive, send: Send) -> None:
        page = web.not_found_page(Request(scope)) if scope["type"] == "http" else None
        await (page or unknown)(scope, receive, send)

    app.router.default = serve_not_found


def _add_probes(app: FastAPI, state: ServerState) -> None:
    @app.get("/healthz", tags=["probes"], responses=refusals())
    async def healthz() -> Health:  # pyright: ignore[reportUnusedFunction]
        """The process answers."""
        return Health(status="ok")

    not_ready: Responses = {503: {"model": Health, "description": "Not ready."}}

    @app.get("/readyz", tags=["probes"], response_model=Health, responses=refusals() | not_ready)
    async def readyz() -> Response:  # pyright: ignore[reportUnusedFunction]
        """The server takes work: the database answers, the runner runs, and it is not shutting down."""
        ready = await _is_ready(state)
        return JSONResponse({"status": "ready" if ready else "not ready"}, 200 if ready else 503)


async def _is_ready(state: ServerState) -> bool:
    if state.closing.is_set() or not state.ready.is_set():
        return False
    try:
        async with state.core.store.snapshot() as tx:
            await tx.users.count()
    except StorageUnavailable:
        return False
    return True
