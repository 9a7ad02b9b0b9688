"""What is measured, for Prometheus."""

import hmac

from fastapi import APIRouter, Request, Response

from interlock.domain.errors import Forbidden
from interlock.domain.principal import Role
from interlock.faces.http.credentials import authenticate
from interlock.faces.http.documented import problems
from interlock.faces.http.server_state import ServerState, state_of

TEXT = "text/plain; version=0.0.4; charset=utf-8"

router = APIRouter(tags=["probes"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **problems(401)},
)
async def metrics(request: Request) -> Response:
    """In Prometheus' text format. With the token of INTERLOCK_METRICS_TOKEN, or for an admin."""
    state = state_of(request)
    if not _has_token(request, state) and (await authenticate(request)).role is not Role.ADMIN:
        raise Forbidden("metrics are for admins, and for whoever has the token of INTERLOCK_METRICS_TOKEN")
    return Response(await state.metrics(), media_type=TEXT)


def _has_token(request: Request, state: ServerState) -> bool:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    token = state.metrics_token
    return (
        token is not None and scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())
    )
