"""Posting to addresses outside: only to hosts that the operator named, and never into a private network by accident.

A name is resolved once, every address it stands for is checked, and the connection goes to one of these: an answer of
the name server that changes in between cannot lead it anywhere else.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import httpx

from interlock.domain.errors import FieldError, InvalidInput, Undeliverable
from interlock.ports.calls import HttpReply, NoReply, NotReached
from interlock.ports.webhooks import Unanswered

TIMEOUT_SECONDS = 10.0
CONNECT_SECONDS = 4.0
"""For one address; a name may stand for several."""
LONGEST_URL = 2_000
LONGEST_REPLY = 256 * 1024
"""Of what is read at all."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class _Destination:
    url: httpx.URL
    addresses: Sequence[str]


def _resolve(host: str, port: int) -> list[str]:
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class HttpPoster:
    def __init__(
        self,
        hosts: Sequence[str],
        *,
        allow_private: bool = False,
        named_in: str = "INTERLOCK_WEBHOOK_HOSTS",
        private_hosts: Collection[str] | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        resolve: Callable[[str, int], Sequence[str]] = _resolve,
    ) -> None:
        self._hosts = tuple(host.lower() for host in hosts)
        self._allow_private = allow_private
        self._named_in = named_in
        self._private_hosts = frozenset(private_hosts or ())
        """These may be on private addresses, whatever others may."""
        webhooks, others = "INTERLOCK_WEBHOOK_PRIVATE=on allows these", f"a host that {named_in} names whole may"
        self._private_hint = webhooks if private_hosts is None else others
        self._timeout_seconds = timeout_seconds
        self._resolve = resolve
        # No connection is kept: the next post to the same address may be meant for another name.
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(timeout_seconds, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=False,
            verify=_trust_store(),
            headers={"user-agent": "interlock", "accept-encoding": "identity"},
        )
        # A name server that hangs must not hold the threads in which tools work.
        self._threads = ThreadPoolExecutor(8, "interlock-names")

    async def check(self, url: str) -> None:
        await self._destination(url)

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                destination = await self._destination(url)
                return await self._post(destination, body, headers)
        except TimeoutError as error:
            raise Unanswered(f"no response within {TIMEOUT_SECONDS:g} seconds") from error
        except InvalidInput as error:
            raise Undeliverable(error.message) from error
        except httpx.HTTPError as error:
            # Of some errors the text holds what the receiver said; the kind of it tells enough.
            kind = Undeliverable if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout) else Unanswered
            raise kind(f"no response: {type(error).__name__}") from error

    async def call(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> HttpReply:
        """As `ports.calls` has it."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                destination = await self._destination(url)
                return await self._send(method, destination, body, headers, LONGEST_REPLY)
        except InvalidInput as error:
            raise NotReached(error.message) from error
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise NotReached(f"no connection: {type(error).__name__}") from error
        except TimeoutError as error:
            raise NoReply(f"no response within {self._timeout_seconds:g} seconds") from error
        except httpx.HTTPError as error:
            raise NoReply(f"no response: {type(error).__name__}") from error

    async def close(self) -> None:
        await self._client.aclose()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _post(self, destination: _Destination, body: bytes, headers: Mapping[str, str]) -> int:
        # The body of the response is not read: nothing of it is kept.
        return (await self._send("POST", destination, body, headers, 0)).status

    async def _send(
        self, method: str, destination: _Destination, body: bytes, headers: Mapping[str, str], most: int
    ) -> HttpReply:
        """To the first of its addresses that takes the connection; of the response as much is read."""
        url = destination.url
        extensions = {} if _literal(url.host) else {"sni_hostname": url.raw_host.decode()}
        last: httpx.HTTPError | None = None
        for address in destination.addresses:
            try:
                async with self._client.stream(
                    method,
                    url.copy_with(host=address),
                    content=body,
                    headers={**headers, "host": url.netloc.decode()},
                    extensions=extensions,
                ) as response:
                    named = {name.lower(): value for name, value in response.headers.items()}
                    return HttpReply(response.status_code, named, await _beginning(response, most))
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                last = error
        assert last is not None
        raise last

    async def _destination(self, url: str) -> _Destination:
        target = self._parse(url)
        addresses = await self._addresses(target)
        allowed = self._allow_private or target.host in self._private_hosts
        if not allowed and not all(is_public(ipaddress.ip_address(address)) for address in addresses):
            raise _error("address", f"{target.host} stands for a private or loopback address; {self._private_hint}")
        return _Destination(target, addresses)

    def _parse(self, url: str) -> httpx.URL:
        try:
            address = httpx.URL(url)
        except (httpx.InvalidURL, ValueError) as error:
            raise _error("form", "the URL cannot be read") from error
        if len(url) > LONGEST_URL:
            raise _error("length", f"a webhook's URL has {LONGEST_URL} characters at the most")
        if address.scheme not in ("http", "https") or not address.host:
            raise _error("form", "a webhook's URL begins with https:// or http:// and a host")
        if address.userinfo:
            raise _error("credentials", "a webhook's URL holds no user name and no password")
        if not self._is_named(address):
            raise _error("host", f"{address.host} is not one of the hosts in {self._named_in}")
        return address

    def _is_named(self, url: httpx.URL) -> bool:
        names = {name.lower().rstrip(".") for name in (url.host, url.raw_host.decode())}
        return any(
            name == host or (host.startswith("*.") and name.endswith(host[1:]) and not _literal(name))
            for name in names
            for host in self._hosts
        )

    async def _addresses(self, url: httpx.URL) -> list[str]:
        loop = asyncio.get_running_loop()
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                found = await loop.run_in_executor(self._threads, self._resolve, url.raw_host.decode(), port)
        except (OSError, UnicodeError, TimeoutError) as error:
            raise _error("unknown_host", f"no address is found for {url.host}") from error
        return list(dict.fromkeys(found))


async def _beginning(response: httpx.Response, most: int) -> bytes:
    read = b""
    if most:
        async for chunk in response.aiter_raw():
            read += chunk
            if len(read) > most:
                raise httpx.DecodingError("too long")
    return read


def is_public(address: Address) -> bool:
    """Whether it is an address of the open internet, whichever way it is written."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = _inner(address)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that packets to this one end up at, where it is a way to write one."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _trust_store() -> ssl.SSLContext:
    """Who vouches for receivers: the public authorities, and those that the operator added to the machine's own."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


def _literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _error(code: str, message: str) -> InvalidInput:
    return InvalidInput(message, [FieldError("url", code, message)])
