"""Sockets to vendors: to hosts that the operator named, over TLS, and wherever they lead only there."""

import ipaddress
import logging
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from typing_extensions import override
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from interlock.domain.channel import wrong
from interlock.ports.channels import Unreachable

OPEN_SECONDS = 10.0
PING_SECONDS = 20.0
LONGEST_MESSAGE = 1024 * 1024

_quiet = logging.getLogger("interlock.channels.sockets")
# The addresses of sockets have tickets in them, which the library logs when it is asked for everything.
_quiet.setLevel(logging.WARNING)


class _Straight(connect):
    @override
    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


@asynccontextmanager
async def open_socket(url: str, hosts: Sequence[str]) -> AsyncGenerator[ClientConnection]:
    """`Unreachable` where there is none to be had; the errors of a socket that breaks are the library's."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    if parts.scheme != "wss" and not (parts.scheme == "ws" and is_loopback(host)):
        raise Unreachable("the vendor named a socket that is not over TLS")
    if host not in hosts or "@" in parts.netloc:
        raise Unreachable(f"{host} is not one of the hosts in INTERLOCK_CHANNEL_HOSTS")
    context = ssl.create_default_context() if parts.scheme == "wss" else None
    try:
        socket = await _Straight(
            url,
            ssl=context,
            proxy=None,
            open_timeout=OPEN_SECONDS,
            ping_interval=PING_SECONDS,
            ping_timeout=PING_SECONDS,
            close_timeout=1.0,
            max_size=LONGEST_MESSAGE,
            logger=_quiet,
        )
    except (WebSocketException, OSError, TimeoutError) as error:
        raise Unreachable(f"no socket: {type(error).__name__}") from error
    try:
        yield socket
    finally:
        await socket.close()


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_api(text: str, hosts: Sequence[str]) -> str:
    """The address of a vendor's API, on a host that may be spoken to."""
    parts = urlsplit(text)
    host = (parts.hostname or "").lower()
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise wrong("settings.api", "form", "api begins with https://")
    if parts.username or parts.query or parts.fragment:
        raise wrong("settings.api", "form", "api has no user name, no query and no fragment")
    if host not in hosts:
        raise wrong("settings.api", "host", f"{host} is not one of the hosts in INTERLOCK_CHANNEL_HOSTS")
    return text.rstrip("/")


def check_api(api: str, hosts: Sequence[str]) -> None:
    if (urlsplit(api).hostname or "").lower() not in hosts:
        raise Unreachable("the host of its API is not one of those in INTERLOCK_CHANNEL_HOSTS")
