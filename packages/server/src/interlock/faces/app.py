"""The HTTP application: every face mounted over one core."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from fastapi import FastAPI
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from interlock import __version__
from interlock.faces.http import problems
from interlock.faces.http.guard import Allowed, Guard
from interlock.faces.http.server_state import ServerState
from interlock.faces.threads import accounts, chat, sessions
from interlock_client.threads import Health

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

_WELCOME = """Interlock: the human-in-the-loop server for AI agents.

POST /api/auth/register and /api/auth/login with {"username", "password"} give you an account and a token;
POST /api/chat with {"message"} and "Authorization: Bearer TOKEN" talks to the agent.
The whole interface is described at /openapi.json.
"""


def create_app(state: ServerState, allowed: Allowed, lifespan: Lifespan) -> FastAPI:
    app = FastAPI(title="Interlock", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.server = state
    problems.install(app)
    for router in (accounts.router, sessions.router, chat.router):
        app.include_router(router)
    _add_probes(app, state)
    app.add_middleware(Guard, allowed=allowed)
    return app


def _add_probes(app: FastAPI, state: ServerState) -> None:
    @app.get("/", include_in_schema=False)
    async def welcome() -> PlainTextResponse:  # pyright: ignore[reportUnusedFunction]
        return PlainTextResponse(_WELCOME)

    @app.get("/healthz", tags=["probes"])
    async def healthz() -> Health:  # pyright: ignore[reportUnusedFunction]
        """The process answers."""
        return Health(status="ok")

    @app.get("/readyz", tags=["probes"], responses={503: {"model": Health, "description": "Not ready."}})
    async def readyz() -> Response:  # pyright: ignore[reportUnusedFunction]
        """The server takes work: the database answers, the runner runs, and it is not shutting down."""
        ready = state.ready.is_set() and not state.closing.is_set()
        if ready:
            async with state.core.store.snapshot() as tx:
                await tx.users.count()
        return JSONResponse({"status": "ready" if ready else "not ready"}, 200 if ready else 503)
