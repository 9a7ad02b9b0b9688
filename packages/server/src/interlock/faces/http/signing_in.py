"""Tokens given out: to a program in the reply, to a browser as a cookie that scripts cannot read."""

from fastapi import Request
from fastapi.responses import Response

from interlock.domain.principal import User
from interlock.domain.sign_in import Origin, SignIn, new_sign_in
from interlock.faces.http.credentials import COOKIE, SECURE_COOKIE
from interlock.faces.http.limits import address_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.tokens import LIFETIME
from interlock.services.access import sign_ins


async def signed_in(request: Request, user: User, how: str | None, identity_id: str | None = None) -> str:
    """A token for somebody who showed who they are; the session is listed from then on."""
    text, sign_in = await new_token(request, user, how, identity_id)
    await sign_ins.open_session(state_of(request).core, user, sign_in)
    return text


async def new_token(
    request: Request, user: User, how: str | None, identity_id: str | None = None
) -> tuple[str, SignIn]:
    """A token, and what is to be listed of it; until it is, it may be of somebody who is not signed in."""
    state = state_of(request)
    # Where another server's clock is ahead, a token of this moment would have ended with the last password.
    issued_at = max(state.core.clock.now(), user.tokens_after)
    issued = await state.tokens.issue(user.id, issued_at)
    origin = Origin(how, address_of(request.scope), request.headers.get("user-agent", ""), identity_id)
    return issued.text, new_sign_in(user.id, issued.issued_at, issued.key, origin)


def set_cookie(request: Request, response: Response, token: str) -> None:
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


def forget_cookies(response: Response) -> None:
    for name in (SECURE_COOKIE, COOKIE):
        response.delete_cookie(name, path="/", secure=name == SECURE_COOKIE, httponly=True, samesite="strict")
