"""Sign-ins: each gave out one token, and lasts for as long as that holds."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from interlock.domain.ids import new_id

TOKEN_LIFETIME = timedelta(hours=12)
USE_NOTED_EVERY = timedelta(minutes=1)
"""When one was last used is right to so much."""
LONGEST_PROGRAM = 300


@dataclass(frozen=True, slots=True)
class SignIn:
    """A token is known by whose it is and when it was issued."""

    id: str
    user_id: str
    issued_at: datetime
    expires_at: datetime
    token_key: int
    """The number of the key that signed its token."""
    used_at: datetime
    how: str | None = None
    """`password` or `link`; None for one that goes on from another, and, as the two below, for one that a server of an
    earlier version made."""
    address: str | None = None
    program: str | None = None
    """What the browser or the program calls itself."""
    identity_id: str | None = None
    """Through which identity single sign-on opened it. Such a session is not prolonged: what the provider said of its
    person is so no older than the session is."""

    @property
    def means(self) -> str | None:
        return "oidc" if self.identity_id else self.how


@dataclass(frozen=True, slots=True)
class Origin:
    """How and from where somebody signs in."""

    how: str | None
    address: str
    program: str
    identity_id: str | None = None


def new_sign_in(
    user_id: str, issued_at: datetime, token_key: int, origin: Origin | None, used_at: datetime | None = None
) -> SignIn:
    expires_at = issued_at + TOKEN_LIFETIME
    sign_in = SignIn(new_id("login"), user_id, issued_at, expires_at, token_key, used_at or issued_at)
    if origin is None:
        return sign_in
    return replace(
        sign_in,
        how=origin.how,
        address=origin.address,
        program=origin.program[:LONGEST_PROGRAM],
        identity_id=origin.identity_id,
    )
