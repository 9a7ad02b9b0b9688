"""Accounts: register and sign in."""

from fastapi import APIRouter, Request

from interlock.faces.http.documented import problems
from interlock.faces.http.limits import address_of
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.signing_in import signed_in
from interlock.services.access import accounts
from interlock.texts import threads_text as text
from interlock_client import threads as wire

router = APIRouter(prefix="/api/auth", tags=["accounts"])


@router.post("/register", responses=problems(400, 403, 429))
async def register(request: Request, body: wire.Credentials) -> wire.Registered:
    """Make an account. The first one is the admin's; 400 when the name is taken, 403 when registration is closed."""
    state = state_of(request)
    async with state.limits.admit_registration(address_of(request.scope)):
        user = await accounts.register(state.core, body.username, body.password)
    return wire.Registered(message=text("registered", locale_of(request)), user_id=user.id)


@router.post("/login", responses=problems(401, 429))
async def login(request: Request, body: wire.Credentials) -> wire.AccessToken:
    """Sign in; the token is a session of its own, and ends with it. 403 for who may not sign in any more."""
    state = state_of(request)
    address = address_of(request.scope)
    async with state.limits.sign_in(address, body.username):
        user = await accounts.sign_in(state.core, body.username, body.password, address)
    return wire.AccessToken(access_token=await signed_in(request, user, "password"))
