"""A subscription: a browser as an address of Web Push, with the keys that messages to it are sealed under."""

import base64
import json
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import SplitResult, urlsplit

BROWSERS = ("fcm.googleapis.com", "updates.push.services.mozilla.com", "*.push.apple.com", "*.notify.windows.com")
"""The services of Chrome and what is made of it, Firefox, Safari and Edge."""
LONGEST_ENDPOINT = 1_000
_AUTH, _KEY = 16, 65
_HTTPS = 443


@dataclass(frozen=True, slots=True)
class Subscription:
    endpoint: str
    key: bytes
    auth: bytes

    @classmethod
    def read(cls, text: str) -> Self:
        """As browsers write it; `ValueError` for anything else."""
        try:
            given: Any = json.loads(text)
            endpoint, keys = given["endpoint"], given["keys"]
            found = cls(endpoint, decoded(keys["p256dh"]), decoded(keys["auth"]))
            found._check()
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("a part of it is missing") from error
        return found

    @property
    def host(self) -> str:
        return self._parts.hostname or ""

    @property
    def port(self) -> int:
        return self._parts.port or _HTTPS

    @property
    def origin(self) -> str:
        return f"https://{self._parts.netloc}"

    @property
    def text(self) -> str:
        """Its one spelling, by which it is known again."""
        keys = {"auth": encoded(self.auth), "p256dh": encoded(self.key)}
        return json.dumps({"endpoint": self.endpoint, "keys": keys}, separators=(",", ":"))

    @property
    def _parts(self) -> SplitResult:
        return urlsplit(self.endpoint)

    def _check(self) -> None:
        parts, endpoint = self._parts, self.endpoint
        is_plain = endpoint.isascii() and endpoint.isprintable() and " " not in endpoint and "\\" not in endpoint
        if not is_plain or len(endpoint) > LONGEST_ENDPOINT:
            raise ValueError("this is no address of a push service")
        if parts.scheme != "https" or not parts.hostname or "@" in parts.netloc or parts.fragment:
            raise ValueError("the address of a push service begins with https:// and a host")
        if parts.port == 0:
            raise ValueError("there is no port 0")
        if len(self.key) != _KEY or len(self.auth) != _AUTH:
            raise ValueError("its keys have another length")


class PushHosts:
    """The hosts that may be posted to. Only one that the operator named whole may be at another port than usual."""

    def __init__(self, hosts: tuple[str, ...]) -> None:
        self.own = frozenset(host for host in hosts if "*" not in host and host not in BROWSERS)
        self._known = frozenset(host for host in hosts if "*" not in host)
        self._under = tuple(host[1:] for host in hosts if "*" in host)

    def take(self, subscription: Subscription) -> bool:
        host = subscription.host
        if host in self.own:
            return True
        return subscription.port == _HTTPS and (host in self._known or host.endswith(self._under))


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
