"""Access tokens of people: signed, short-lived, and void once their owner's password is reset."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import jwt

from interlock.domain.errors import NotAuthenticated

AUDIENCE = "interlock"
LIFETIME = timedelta(hours=12)
ALGORITHM = "HS256"


class Tokens:
    def __init__(self, key: bytes) -> None:
        self._key = key

    def issue(self, user_id: str, now: datetime) -> str:
        claims = {
            "sub": user_id,
            "iat": now.timestamp(),
            "exp": now + LIFETIME,
            "aud": AUDIENCE,
            "jti": secrets.token_hex(16),
        }
        return jwt.encode(claims, self._key, algorithm=ALGORITHM)

    def read(self, token: str, now: datetime) -> "Held":
        """Whose token it is, from when and until when; `NotAuthenticated` for one that does not hold."""
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key,
                algorithms=[ALGORITHM],
                audience=AUDIENCE,
                # The server's own clock is injected, so the times are compared here.
                options={
                    "require": ["sub", "iat", "exp", "aud", "jti"],
                    "verify_exp": False,
                    "verify_iat": False,
                },
            )
            expires_at, issued_at = float(claims["exp"]), datetime.fromtimestamp(float(claims["iat"]), UTC)
        except (jwt.InvalidTokenError, TypeError, ValueError, OverflowError) as error:
            raise NotAuthenticated("the token does not hold") from error
        if expires_at <= now.timestamp():
            raise NotAuthenticated("the token has expired")
        return Held(claims["sub"], issued_at, expires_at)


class Held(NamedTuple):
    user_id: str
    issued_at: datetime
    expires_at: float
