"""Access tokens of people: signed, short-lived, and void once their owner's password is reset or their key rotated.

The first one may come by a link that works once.
"""

import hmac
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import jwt

from interlock.domain.errors import NotAuthenticated
from interlock.domain.sign_in import TOKEN_LIFETIME
from interlock.ports.access import TokenKeys

AUDIENCE = "interlock"
LIFETIME = TOKEN_LIFETIME
ALGORITHM = "HS256"
LONGEST_NUMBER = 9
"""Digits of a key's number."""


class Tokens:
    def __init__(self, keys: TokenKeys) -> None:
        self._keys = keys

    async def issue(self, user_id: str, now: datetime) -> "IssuedToken":
        claims = {
            "sub": user_id,
            "iat": now.timestamp(),
            "exp": now + LIFETIME,
            "aud": AUDIENCE,
            "jti": secrets.token_hex(16),
        }
        number, key = await self._keys.newest()
        return IssuedToken(jwt.encode(claims, key, algorithm=ALGORITHM, headers={"kid": str(number)}), now, number)

    async def read(self, token: str, now: datetime) -> "TokenClaims":
        """Whose token it is, from when and until when; `NotAuthenticated` for one that does not hold."""
        number = _key_number(token)
        key = await self._keys.get(number)
        if key is None:
            raise NotAuthenticated("the key of the token was retired")
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
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
        return TokenClaims(claims["sub"], issued_at, expires_at, number)


def _key_number(token: str) -> int:
    try:
        number = str(jwt.get_unverified_header(token).get("kid", ""))
    except (jwt.InvalidTokenError, ValueError) as error:
        raise NotAuthenticated("the token does not hold") from error
    if not (number.isascii() and number.isdecimal()) or len(number) > LONGEST_NUMBER:
        raise NotAuthenticated("the token names no key")
    return int(number)


class IssuedToken(NamedTuple):
    text: str
    issued_at: datetime
    key: int


class TokenClaims(NamedTuple):
    user_id: str
    issued_at: datetime
    expires_at: float
    key: int


LINK_LIFETIME = timedelta(minutes=15)


class OneTimeLink:
    """The link that a start of the server prints: whoever can read the terminal may sign in with it, once and soon.

    There is none until it is made.
    """

    def __init__(self) -> None:
        self._token: str | None = None
        self._ends_at: datetime | None = None
        self._is_for_first = False

    def make(self, now: datetime, *, is_for_first: bool) -> str:
        """`is_for_first`: there is no admin yet, and the link ends where there is one. It may be in a log."""
        self._token = secrets.token_urlsafe(24)
        self._ends_at = now + LINK_LIFETIME
        self._is_for_first = is_for_first
        return self._token

    def use(self, token: str, now: datetime, *, is_first: bool) -> bool:
        """Whether it is the token, in time, and for this; it is gone from then on."""
        if self._is_for_first and not is_first:
            self._token = None
        if self._token is None or self._ends_at is None or now >= self._ends_at:
            return False
        if not hmac.compare_digest(self._token.encode(), token.encode("utf-8", "replace")):
            return False
        self._token = None
        return True

    def restore(self, token: str) -> None:
        """What it was used for did not come about."""
        self._token = token
