"""Signing in with a browser: a cookie that scripts cannot read and other sites cannot send."""

from contextlib import suppress

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interlock.domain.errors import FieldError, InterlockError, InvalidInput, NotAuthenticated
from interlock.domain.principal import Role, User
from interlock.faces.http.credentials import COOKIE, SECURE_COOKIE, Caller, cookie_of
from interlock.faces.http.documented import problems, refusals
from interlock.faces.http.limits import address_of
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.tokens import LIFETIME
from interlock.services import accounts
from interlock.services.refused import Attempt
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
        registration=state.core.policy.registration_open,
        server_time=state.core.clock.now(),
    )


@router.get("/session", responses=problems(401))
async def present(request: Request, caller: Caller) -> wire.Present:
    """Who is signed in."""
    state = state_of(request)
    reviews = await accounts.spelled_reviews(state.core, caller.reviews)
    return wire.Present(
        username=caller.name,
        user_id=caller.id,
        role=caller.role,
        reviews=reviews,
        auth="accounts" if state.with_accounts else "none",
        locale=locale_of(request),
        server_time=state.core.clock.now(),
    )


@router.post("/session", responses=problems(401))
async def sign_in(request: Request, response: Response, body: wire.SignIn) -> wire.SignedIn:
    """Sign in with a name and a password; the cookie holds for 12 hours."""
    state = state_of(request)
    address = address_of(request.scope)
    async with state.limits.sign_in(address, body.username):
        user = await accounts.sign_in(state.core, body.username, body.password, address)
    return await _signed_in(request, response, user)


@router.post("/session/once", responses=problems(401))
async def sign_in_once(request: Request, response: Response, body: wire.SignInOnce) -> wire.SignedIn:
    """Sign in with the one-time link that the server printed. Without an admin it makes the account of one."""
    state = state_of(request)
    admin = await accounts.first_admin(state.core)
    if admin is not None:
        await _use(request, body.token)
        return await _signed_in_by_link(request, response, admin)
    if body.username is None or body.password is None:
        missing = [name for name in ("username", "password") if getattr(body, name) is None]
        errors = [FieldError(name, "missing", f"{name} is required for the first account") for name in missing]
        raise InvalidInput("there is no admin yet: choose a name and a password for the first one", errors)
    accounts.check_new(body.username, body.password)
    await _use(request, body.token)
    try:
        user = await accounts.create_user(state.core, body.username, body.password, role=Role.ADMIN, how="link")
    except InterlockError:
        state.link.restore(body.token)
        raise
    return await _signed_in_by_link(request, response, user)


@router.delete("/session", responses=refusals())
async def sign_out(request: Request, response: Response) -> wire.SignedOut:
    """End what the cookie holds, and forget the cookie."""
    state = state_of(request)
    # What does not hold needs no end.
    with suppress(NotAuthenticated):
        held = await state.tokens.read(cookie_of(request), state.core.clock.now())
        await accounts.sign_out(state.core, held.user_id, held.issued_at, held.issued_at + LIFETIME, held.key)
    for name in (SECURE_COOKIE, COOKIE):
        response.delete_cookie(name, path="/", secure=name == SECURE_COOKIE, httponly=True, samesite="strict")
    return wire.SignedOut()


async def _use(request: Request, token: str) -> None:
    state = state_of(request)
    if not state.link.use(token, state.core.clock.now()):
        await accounts.record_refused(state.core, Attempt("link", None, address_of(request.scope)))
        raise NotAuthenticated("the link was used before, has ended, or is of an earlier start of the server")


async def _signed_in_by_link(request: Request, response: Response, user: User) -> wire.SignedIn:
    await accounts.record_sign_in(state_of(request).core, user, "link", address_of(request.scope))
    return await _signed_in(request, response, user)


async def _signed_in(request: Request, response: Response, user: User) -> wire.SignedIn:
    state = state_of(request)
    token = await state.tokens.issue(user.id, state.core.clock.now())
    is_secure = request.url.scheme == "https"
    response.set_cookie(
        SECURE_COOKIE if is_secure else COOKIE,
        token,
        max_age=int(LIFETIME.total_seconds()),
        path="/",
        secure=is_secure,
        httponly=True,
        samesite="strict",
    )
    reviews = await accounts.spelled_reviews(state.core, user.reviews)
    return wire.SignedIn(username=user.username, user_id=user.id, role=user.role, reviews=reviews)
