"""Who is calling: by a token, an API key or a ticket, or, on a server without accounts, by what the caller says.

A long-lived credential goes into a header and never into an address. Streams of browsers, which cannot set one, bring a
ticket. What stands behind a stream is looked at again while it is open: a credential that was ended ends it.
"""

import json
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, cast

from fastapi import Depends, Request
from fastapi.requests import HTTPConnection
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from interlock.domain.api_key import PREFIX, Ticket
from interlock.domain.errors import NotAuthenticated
from interlock.domain.principal import Principal
from interlock.faces.http.server_state import ServerState, state_of
from interlock.faces.http.tokens import LIFETIME
from interlock.services.access import accounts, keys, sign_ins

LOCAL_USER = "local"
TICKET = "ticket"
COOKIE = "interlock_session"
SECURE_COOKIE = f"__Host-{COOKIE}"
"""Over TLS: a browser takes it from this very host only, and over TLS only. The other one is still read there, for
those who signed in with an earlier version."""

_bearer = HTTPBearer(auto_error=False, description="The access_token of POST /api/auth/login, or an API key.")


@dataclass(frozen=True, slots=True)
class Credential:
    """Something that stands for a principal, for as long as it holds."""

    principal_now: Callable[[], Awaitable[Principal]]
    """Who it stands for now; `NotAuthenticated` once it no longer holds."""
    issued_at: datetime
    """Since when it stands for them; a ticket for it is no younger."""
    expires_at: float = math.inf
    """When it ends by itself, where that is known beforehand; as a timestamp."""
    token_key: int | None = None
    """For a person's token: the number of the key that signed it."""
    is_cookie: bool = False


async def credential_of(connection: HTTPConnection, named_user: str | None = None) -> Credential:
    """What a request or a handshake brings; `NotAuthenticated` when it brings nothing that could hold."""
    state = state_of(connection)
    now = state.core.clock.now()
    if not state.with_accounts:
        user = named_user or connection.query_params.get("user_id") or LOCAL_USER
        return Credential(lambda: accounts.local_principal(state.core, user), now)
    if bearer := bearer_of(connection):
        return await by_text(state, bearer)
    if (key := connection.headers.get("x-api-key", "")).startswith(PREFIX):
        return await by_text(state, key)
    # Only where a browser cannot set a header: with a ticket nobody may make a key, or the next ticket.
    is_stream = connection.scope["type"] == "websocket" or connection.scope["method"] == "GET"
    if is_stream and (ticket := connection.query_params.get(TICKET)):
        return _by_ticket(state, await keys.take_ticket(state.core, ticket))
    if cookie := cookie_of(connection):
        # Sent for another site's page it was refused by now: the guard looks at where a request comes from.
        return replace(await by_text(state, cookie), is_cookie=True)
    raise NotAuthenticated("Could not validate credentials")


def bearer_of(connection: HTTPConnection) -> str:
    scheme, _, text = connection.headers.get("authorization", "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else ""


def cookie_of(connection: HTTPConnection) -> str:
    return next(iter(cookies_of(connection)), "")


def cookies_of(connection: HTTPConnection) -> list[str]:
    return [text for name in (SECURE_COOKIE, COOKIE) if (text := connection.cookies.get(name))]


async def by_text(state: ServerState, text: str) -> Credential:
    """An API key, or an access token."""
    if text.startswith(PREFIX):
        return Credential(lambda: keys.principal_by_key(state.core, text), state.core.clock.now())
    claims = await state.tokens.read(text, state.core.clock.now())

    async def now() -> Principal:
        await state.tokens.read(text, state.core.clock.now())
        return await sign_ins.principal_by_token(state.core, claims.user_id, claims.issued_at, claims.key)

    return Credential(now, claims.issued_at, claims.expires_at, claims.key)


def _by_ticket(state: ServerState, ticket: Ticket) -> Credential:
    core, key_id = state.core, ticket.key_id
    if key_id is not None:
        return Credential(lambda: keys.principal_by_key_id(core, key_id), ticket.issued_at)
    token_key = ticket.token_key
    if token_key is None:
        raise NotAuthenticated("the ticket is of an earlier version of the server")
    ends_at = ticket.issued_at + LIFETIME

    async def now() -> Principal:
        if core.clock.now() >= ends_at:
            raise NotAuthenticated("the token behind the ticket has expired")
        return await sign_ins.principal_by_token(core, ticket.user_id or "", ticket.issued_at, token_key)

    return Credential(now, ticket.issued_at, ends_at.timestamp(), token_key)


async def authenticate(connection: HTTPConnection, named_user: str | None = None) -> Principal:
    """The caller, within their bounds; the credential stays with the connection for as long as that is open."""
    connection.state.credential = await credential_of(connection, named_user)
    principal = await caller_now(connection)
    state_of(connection).limits.admit(principal.person_id)
    return principal


async def caller(
    request: Request, _given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Principal:
    return await authenticate(request, request.path_params.get("user_id") or await _named_user(request))


async def caller_now(connection: HTTPConnection) -> Principal:
    """Who the credential of an open stream stands for now; `NotAuthenticated` once it no longer holds."""
    # Before, so that a change meanwhile is seen as one.
    access = state_of(connection).core.pulse.access
    credential: Credential = connection.state.credential
    principal = await credential.principal_now()
    connection.state.known = _CachedCaller(credential, principal, access)
    return principal


async def caller_still(connection: HTTPConnection) -> Principal:
    """The same, for what is asked again and again: looked up only when theirs was changed, or when it has ended."""
    core = state_of(connection).core
    known: _CachedCaller = connection.state.known
    is_same = known.credential is connection.state.credential
    is_changed = core.pulse.has_changed(known.principal.person_id, known.access)
    if is_same and not is_changed and core.clock.now().timestamp() < known.ends_at:
        return known.principal
    return await caller_now(connection)


@dataclass(frozen=True, slots=True)
class _CachedCaller:
    """Who a credential stood for when it was last looked up, which it does until theirs is changed, or it ends."""

    credential: Credential
    principal: Principal
    access: int | None

    @property
    def ends_at(self) -> float:
        key_ends_at = self.principal.key_ends_at
        return min(self.credential.expires_at, key_ends_at.timestamp() if key_ends_at else math.inf)


async def _named_user(request: Request) -> str | None:
    if state_of(request).with_accounts or not request.headers.get("content-type", "").startswith("application/json"):
        return None
    try:
        body: Any = json.loads(await request.body() or b"null")
    except (ValueError, RecursionError):
        return None
    user_id = cast("dict[str, Any]", body).get("user_id") if isinstance(body, dict) else None
    return user_id if isinstance(user_id, str) and user_id else None


Caller = Annotated[Principal, Depends(caller)]


async def stream_slot(request: Request, caller: Caller) -> AsyncGenerator[None]:
    """A dependency: holds one of the caller's streams from before the route acts until its response has ended."""
    with state_of(request).limits.stream(caller.person_id):
        yield
