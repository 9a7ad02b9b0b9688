"""Clients of a server on loopback."""

from functools import cache
from ssl import SSLContext

import httpx

from tests.support.waiting import WAIT_SECONDS


def client(
    url: httpx.URL | str, *, headers: httpx.Headers | dict[str, str] | None = None, timeout: float = WAIT_SECONDS
) -> httpx.Client:
    """With a connection of its own."""
    return httpx.Client(base_url=url, headers=headers, timeout=timeout, verify=_authorities())


@cache
def _authorities() -> SSLContext:
    """Left to itself each client would read the certificates of all authorities anew, to connect to none of them."""
    return httpx.create_ssl_context()
