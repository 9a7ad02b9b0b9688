"""The caller's own account: the password, and where they are signed in."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from interlock.domain.errors import FieldError, Forbidden, InvalidInput, NotAuthenticated
from interlock.domain.principal import Principal
from interlock.domain.sign_in import SignIn
from interlock.faces.http.credentials import Caller, Credential
from interlock.faces.http.documented import problems
from interlock.faces.http.limits import address_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.signing_in import forget_cookies, new_token, set_cookie
from interlock.services.access import accounts, sign_ins
from interlock_client import account as wire
from interlock_client.manage import Ended

router = APIRouter(prefix="/api/v1/account", tags=["account"])


@router.post("/password", responses=problems(401, 409))
async def change_password(
    request: Request, response: Response, caller: Caller, body: wire.ChangePassword
) -> wire.SessionsEnded:
    """Change the password. Every session ends, this one too: the caller goes on with a new one."""
    _check_accounts(request)
    accounts.check_passwords(state_of(request).core)
    sign_ins.check_new_password(body.old_password, body.new_password)
    core, address = state_of(request).core, address_of(request.scope)
    try:
        async with state_of(request).limits.sign_in(address, caller.name):
            user = await sign_ins.check_password(core, caller, body.old_password, address)
            token, sign_in = await new_token(request, user, "password")
            ended = await sign_ins.change_password(core, user, body.new_password, sign_in)
    except NotAuthenticated:
        # Not 401: the caller is known, and their session goes on.
        message = "the present password is wrong"
        raise InvalidInput(message, [FieldError("old_password", "wrong", message)]) from None
    return _renew_session(request, response, ended, token)


@router.get("/sessions", responses=problems(401))
async def sessions(request: Request, caller: Caller) -> wire.SignInList:
    """Where the caller is signed in."""
    found, total = await sign_ins.list_sessions(state_of(request).core, caller)
    credential: Credential = request.state.credential
    return wire.SignInList(sessions=[_entry(one, credential) for one in found], total=total)


@router.delete("/sessions/{session_id}", responses=problems(401, 404))
async def end(request: Request, caller: Caller, session_id: str) -> Ended:
    """Sign out one; its streams end within seconds."""
    await sign_ins.end_session(state_of(request).core, caller, session_id)
    return Ended(id=session_id)


@router.delete("/sessions", responses=problems(401))
async def end_all(
    request: Request,
    response: Response,
    caller: Caller,
    others: Annotated[bool, Query(description="The caller stays signed in, with a new session.")] = False,
) -> wire.SessionsEnded:
    """Sign out everywhere, or everywhere else."""
    _check_accounts(request)
    core = state_of(request).core
    if not others:
        ended = await sign_ins.end_sessions(core, caller, None)
        forget_cookies(response)
        return wire.SessionsEnded(ended=ended)
    credential: Credential = request.state.credential
    present = await sign_ins.session_of_token(core, caller.id, credential.issued_at)
    if present is not None and present.identity_id is not None:
        # It ends when it would have: only the provider opens another one.
        return wire.SessionsEnded(ended=await sign_ins.end_other_sessions(core, caller, present.issued_at))
    token, sign_in = await _next_one(request, caller)
    return _renew_session(request, response, await sign_ins.end_sessions(core, caller, sign_in) - 1, token)


async def _next_one(request: Request, caller: Principal) -> tuple[str, SignIn]:
    sign_ins.check_signed_in(caller)
    user = await sign_ins.person(state_of(request).core, caller)
    return await new_token(request, user, None)


def _renew_session(request: Request, response: Response, ended: int, token: str) -> wire.SessionsEnded:
    credential: Credential = request.state.credential
    if not credential.is_cookie:
        return wire.SessionsEnded(ended=ended, access_token=token)
    set_cookie(request, response, token)
    return wire.SessionsEnded(ended=ended)


def _entry(sign_in: SignIn, credential: Credential) -> wire.SignInEntry:
    return wire.SignInEntry.model_validate(
        {
            "id": sign_in.id,
            "signed_in_at": sign_in.issued_at,
            "last_used_at": sign_in.used_at,
            "expires_at": sign_in.expires_at,
            "how": sign_in.means,
            "address": sign_in.address,
            "user_agent": sign_in.program,
            "current": sign_in.issued_at == credential.issued_at,
        }
    )


def _check_accounts(request: Request) -> None:
    if not state_of(request).with_accounts:
        raise Forbidden("this server has no accounts: there is no password and nobody signs in")
