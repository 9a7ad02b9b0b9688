"""What a browser keeps while its person is at the provider of single sign-on: a signed cookie that scripts cannot read.

It binds the answer to the browser that asked: who is sent a link with somebody else's code has no cookie for it, or
one of another state. The page itself hands over what the provider sent back, so no other site ever sends this cookie.
"""

import hmac
from datetime import datetime
from typing import Any

import jwt
from fastapi import Request
from fastapi.responses import Response

from interlock.domain.errors import SignOnFailed
from interlock.faces.http.server_state import ServerState, state_of
from interlock.services.access.sign_on import LASTS, Attempt

PATH = "/api/v1/session/sign-on"
COOKIE = "interlock_sign_on"
SECURE_COOKIE = f"__Host-{COOKIE}"
"""Over TLS: from this very host only, for which a browser wants the path to be /."""
_AUDIENCE = "interlock-sign-on"
_ALGORITHM = "HS256"
_FIELDS = ("state", "nonce", "verifier", "next", "user_id")


def keep(request: Request, response: Response, attempt: Attempt) -> None:
    state = state_of(request)
    is_secure = _is_secure(state)
    claims = {name: getattr(attempt, name) for name in _FIELDS}
    text = jwt.encode(
        {**claims, "aud": _AUDIENCE, "exp": state.core.clock.now() + LASTS}, state.attempt_key, algorithm=_ALGORITHM
    )
    response.set_cookie(
        SECURE_COOKIE if is_secure else COOKIE,
        text,
        max_age=int(LASTS.total_seconds()),
        path="/" if is_secure else PATH,
        secure=is_secure,
        httponly=True,
        samesite="strict",
    )


def find(request: Request, state: str) -> Attempt:
    """The attempt with that state, if this browser began it, and lately."""
    server = state_of(request)
    text = request.cookies.get(SECURE_COOKIE if _is_secure(server) else COOKIE, "")
    attempt = _read(text, server.attempt_key, server.core.clock.now()) if text else None
    if attempt is None or not hmac.compare_digest(attempt.state.encode(), state.encode("utf-8", "replace")):
        raise SignOnFailed("this browser did not begin this sign-in, or too long ago; begin again", "expired")
    return attempt


def forget(request: Request, response: Response) -> None:
    is_secure = _is_secure(state_of(request))
    name, path = (SECURE_COOKIE, "/") if is_secure else (COOKIE, PATH)
    response.delete_cookie(name, path=path, secure=is_secure, httponly=True, samesite="strict")


def _read(text: str, key: bytes, now: datetime) -> Attempt | None:
    try:
        claims: dict[str, Any] = jwt.decode(
            text,
            key,
            algorithms=[_ALGORITHM],
            audience=_AUDIENCE,
            # The server's own clock is injected, so the time is compared here.
            options={"require": ["exp"], "verify_exp": False},
        )
        is_over = float(claims["exp"]) <= now.timestamp()
    except (jwt.InvalidTokenError, TypeError, ValueError):
        return None
    return None if is_over else Attempt(**{name: claims[name] for name in _FIELDS})


def _is_secure(state: ServerState) -> bool:
    return (state.public_url or "").startswith("https:")
