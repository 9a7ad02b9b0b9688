"""Who is calling: from a bearer token, or, on a server without accounts, from what the caller says."""

import json
from typing import Annotated, Any, cast

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from interlock.domain.errors import NotAuthenticated
from interlock.domain.principal import Principal
from interlock.faces.http.server_state import ServerState, state_of
from interlock.services import accounts

LOCAL_USER = "local"

_bearer = HTTPBearer(auto_error=False, description="The access_token of POST /api/auth/login.")


async def caller(
    request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Principal:
    state = state_of(request)
    if not state.with_accounts:
        return await accounts.local_principal(state.core, await _named_user(request))
    if given is None:
        raise NotAuthenticated("Could not validate credentials")
    return await by_token(state, given.credentials)


async def by_token(state: ServerState, token: str) -> Principal:
    user_id, issued_at = state.tokens.read(token, state.core.clock.now())
    return await accounts.principal_by_token(state.core, user_id, issued_at)


async def caller_now(request: Request, principal: Principal) -> Principal:
    """Who the credential of an open stream stands for now; `NotAuthenticated` once it no longer holds."""
    state = state_of(request)
    if not state.with_accounts:
        return principal
    _, _, token = request.headers.get("authorization", "").partition(" ")
    return await by_token(state, token.strip())


async def _named_user(request: Request) -> str:
    if request.headers.get("content-type", "").startswith("application/json"):
        try:
            body: Any = json.loads(await request.body() or b"null")
        except (ValueError, RecursionError):
            body = None
        if isinstance(body, dict):
            user_id = cast("dict[str, Any]", body).get("user_id")
            if isinstance(user_id, str) and user_id:
                return user_id
    return request.query_params.get("user_id") or LOCAL_USER


Caller = Annotated[Principal, Depends(caller)]
