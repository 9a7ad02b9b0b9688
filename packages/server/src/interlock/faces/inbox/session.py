"""Signing in with a browser: a cookie that scripts cannot read and other sites cannot send."""

from contextlib import suppress

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interlock.domain.api_key import PREFIX
from interlock.domain.errors import FieldError, Forbidden, InterlockError, InvalidInput, NotAuthenticated, SignOnFailed
from interlock.domain.principal import Role, User
from interlock.faces.http.credentials import Caller, bearer_of, cookies_of
from interlock.faces.http.documented import problems, refusals
from interlock.faces.http.limits import address_of
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import ServerState, state_of
from interlock.faces.http.signing_in import forget_cookies, set_cookie, signed_in
from interlock.faces.http.tokens import TokenClaims
from interlock.services.access import accounts, sign_ins
from interlock.services.memory import SignInAttempt
from interlock_client import inbox as wire

router = APIRouter(prefix="/api/v1", tags=["inbox"])


@router.get("/welcome", responses=refusals())
async def welcome(request: Request) -> wire.Welcome:
    """What a page has to know before anybody has signed in."""
    state = state_of(request)
    async with state.core.store.snapshot() as tx:
        count = await tx.users.count()
    return wire.Welcome(
        auth="accounts" if state.with_accounts else "none",
        locale=locale_of(request),
        has_accounts=count > 0,
        registration=state.core.settings.registration_open and state.core.settings.passwords,
        passwords=state.core.settings.passwords,
        sign_on=state.core.sign_on.name if state.core.sign_on else None,
        server_time=state.core.clock.now(),
    )


@router.get("/session", responses=problems(401))
async def present(request: Request, caller: Caller) -> wire.Present:
    """Who is signed in."""
    state = state_of(request)
    reviews = await accounts.format_reviews(state.core, caller.reviews)
    return wire.Present(
        username=caller.name,
        user_id=caller.id,
        role=caller.role,
        reviews=reviews,
        auth="accounts" if state.with_accounts else "none",
        locale=locale_of(request),
        second_opinion=state.core.adviser is not None,
        server_time=state.core.clock.now(),
    )


@router.post("/session", responses=problems(401))
async def sign_in(request: Request, response: Response, body: wire.SignIn) -> wire.SignedIn:
    """Sign in with a name and a password; the cookie holds for 12 hours."""
    state = state_of(request)
    address = address_of(request.scope)
    async with state.limits.sign_in(address, body.username):
        user = await accounts.sign_in(state.core, body.username, body.password, address)
    return await _signed_in(request, response, user, "password")


@router.post("/session/once", responses=problems(401))
async def sign_in_once(request: Request, response: Response, body: wire.SignInOnce) -> wire.SignedIn:
    """Sign in with the one-time link that the server printed. Without an admin it makes the account of one."""
    state = state_of(request)
    admin = await accounts.first_admin(state.core)
    if admin is not None:
        await _use(request, body.token, is_first=False)
        return await _signed_in(request, response, admin, "link")
    wanted = ("username", "password") if state.core.settings.passwords else ("username",)
    missing = [name for name in wanted if getattr(body, name) is None]
    if body.username is None or missing:
        errors = [FieldError(name, "missing", f"{name} is required for the first account") for name in missing]
        raise InvalidInput("there is no admin yet: choose a name and a password for the first one", errors)
    password = body.password if state.core.settings.passwords else None
    accounts.check_new(body.username, password)
    await _use(request, body.token, is_first=True)
    try:
        user = await accounts.create_user(state.core, body.username, password, role=Role.ADMIN, how="link")
    except InterlockError:
        state.link.restore(body.token)
        raise
    return await _signed_in(request, response, user, "link")


@router.delete("/session", responses=refusals(), response_model_exclude_none=True)
async def sign_out(request: Request, response: Response) -> wire.SignedOut:
    """End the token that the caller brings, in the header or the cookie, and forget the cookie."""
    state = state_of(request)
    bearer = bearer_of(request)
    if state.with_accounts and bearer.startswith(PREFIX):
        raise Forbidden("a key is not signed in, and goes on: revoke it with DELETE /api/v1/keys/{key_id}")
    url = None
    for text in (bearer, *cookies_of(request)):
        # What does not hold needs no end.
        with suppress(NotAuthenticated):
            claims = await state.tokens.read(text, state.core.clock.now())
            url = url or await _end_address(state, claims)
            await sign_ins.sign_out(state.core, claims.user_id, claims.issued_at, claims.key)
    forget_cookies(response)
    return wire.SignedOut(url=url)


async def _end_address(state: ServerState, claims: TokenClaims) -> str | None:
    """Where one signs out of the provider, for a session that it opened and that holds."""
    core = state.core
    session = await sign_ins.session_of_token(core, claims.user_id, claims.issued_at)
    if session is None or session.identity_id is None or core.sign_on is None:
        return None
    # Who signs out is signed out here, whatever the provider does.
    with suppress(SignOnFailed):
        return await core.sign_on.end_address()
    return None


async def _use(request: Request, token: str, *, is_first: bool) -> None:
    state = state_of(request)
    if not state.link.use(token, state.core.clock.now(), is_first=is_first):
        await accounts.record_refused(state.core, SignInAttempt("link", None, address_of(request.scope)))
        raise NotAuthenticated("the link was used before, has ended, or is of an earlier start of the server")


async def _signed_in(request: Request, response: Response, user: User, how: str) -> wire.SignedIn:
    set_cookie(request, response, await signed_in(request, user, how))
    reviews = await accounts.format_reviews(state_of(request).core, user.reviews)
    return wire.SignedIn(username=user.username, user_id=user.id, role=user.role, reviews=reviews)
