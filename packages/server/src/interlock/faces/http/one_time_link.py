"""The link that a start of the server prints: whoever can read the terminal may sign in with it, once."""

import hmac
import secrets


class OneTimeLink:
    def __init__(self) -> None:
        self.token: str | None = secrets.token_urlsafe(24)

    def use(self, token: str) -> bool:
        """Whether it is the token, which is gone from then on."""
        if self.token is None or not hmac.compare_digest(self.token.encode(), token.encode("utf-8", "replace")):
            return False
        self.token = None
        return True

    def restore(self, token: str) -> None:
        """What it was used for did not come about."""
        self.token = token
