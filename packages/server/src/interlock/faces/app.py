"""The HTTP application: every face mounted over one core."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from fastapi import APIRouter, FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse, Response

from interlock import __version__
from interlock.domain.errors import StorageUnavailable
from interlock.faces.confirm import socket as confirm
from interlock.faces.hitl import requests, socket, streaming
from interlock.faces.hitl.envelope import Envelope
from interlock.faces.http.any_text import AnyText
from interlock.faces.http.documented import Responses, refusals
from interlock.faces.http.guard import Allowed, Guard
from interlock.faces.http.problems import Problems
from interlock.faces.http.server_state import ServerState
from interlock.faces.inbox import conversations as inbox_conversations
from interlock.faces.inbox import history as inbox_history
from interlock.faces.inbox import requests as inbox_requests
from interlock.faces.inbox import session as inbox_session
from interlock.faces.inbox import streaming as inbox_streaming
from interlock.faces.manage import audit, grants, keys, metrics, webhooks
from interlock.faces.sessions import invoking
from interlock.faces.sessions.dialect import Dialect
from interlock.faces.threads import accounts, chat, sessions
from interlock.faces.web.reference import add_reference
from interlock_client.threads import Health

_INBOX = (inbox_session, inbox_requests, inbox_streaming, inbox_conversations, inbox_history)
_PARTS = (
    accounts,
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
    webhooks,
    metrics,
)

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create_app(state: ServerState, allowed: Allowed, lifespan: Lifespan, web: APIRouter) -> FastAPI:
    app = FastAPI(
        title="Interlock",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        default_response_class=AnyText,
    )
    app.state.server = state
    problems = Problems({"/api/v1/agent": Envelope(), "/agent": Dialect()})
    problems.install(app)
    for part in (*_PARTS, *_INBOX):
        app.include_router(part.router)
    app.include_router(web)
    add_reference(app)
    _add_probes(app, state)
    if allowed.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(allowed.origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=[
                "authorization",
                "content-type",
                "idempotency-key",
                "last-event-id",
                "x-on-disconnect",
                "x-request-id",
            ],
            expose_headers=["retry-after", "x-thread-id", "x-request-id"],
        )
    app.add_middleware(Guard, allowed=allowed, limits=state.limits, problems=problems)
    return app


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
