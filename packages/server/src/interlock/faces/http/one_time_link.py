"""The link that a start of the server prints: whoever can read the terminal may sign in with it, once and soon."""

import hmac
import secrets
from datetime import datetime, timedelta

LIFETIME = timedelta(minutes=15)


class OneTimeLink:
    """None until it is made."""

    def __init__(self) -> None:
        self._token: str | None = None
        self._ends_at: datetime | None = None
        self._is_for_first = False

    def make(self, now: datetime, *, is_for_first: bool) -> str:
        """`is_for_first`: there is no admin yet, and the link ends where there is one. It may be in a log."""
        self._token = secrets.token_urlsafe(24)
        self._ends_at = now + LIFETIME
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
