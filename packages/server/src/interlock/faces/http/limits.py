"""How much one caller may do at once, so that nobody else notices.

All of it is counted in this process only: several servers on one database each allow as much.
"""

import asyncio
import ipaddress
import math
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary

from starlette.types import Scope

from interlock.domain.errors import NotAuthenticated, RateLimited
from interlock.texts import in_all, limits_text

Clock = Callable[[], float]

MAX_KEYS = 10_000
"""How many callers are remembered; who has not called for longest is forgotten first."""

REFUSED_RATE, REFUSED_BURST = 20.0, 200
"""Requests with no credential or a bad one, of one address."""
GUESSES_PER_MINUTE = 10
"""Failed sign-ins with one user name from one address."""
GUESSES_OF_ADDRESS_PER_MINUTE = 100
"""Failed sign-ins from one address, whatever the names."""

REGISTRATIONS_PER_MINUTE, REGISTRATIONS_AT_ONCE = 20, 100
"""Accounts made, or tried to be made, from one address."""
ATTEMPTS_PER_MINUTE = 120
"""Steps of single sign-ons from one address; each sign-in takes two."""
CALLBACK_RATE, CALLBACK_BURST = 50.0, 500
"""What vendors of channels call back with, of one address."""
IN_LINE = 20
"""Sign-ins and registrations of one address that may wait for each other."""


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class Buckets:
    """A token bucket for each key: so many at once, and so many a second in the long run."""

    def __init__(self, rate: float, burst: float, clock: Clock, keys: int = MAX_KEYS) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._keys = keys
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def wait(self, key: str) -> float:
        """Seconds until this key may take one; 0 when it may now."""
        bucket = self._buckets.get(key)
        if bucket is None:
            return 0.0
        self._fill(bucket)
        return max(0.0, (1.0 - bucket.tokens) / self._rate)

    def take(self, key: str) -> float:
        """Take one if there is one; else the seconds until there is."""
        wait = self.wait(key)
        if not wait:
            self.charge(key)
        return wait

    def charge(self, key: str) -> None:
        """Take one even if there is none. The debt is bounded: twice the time from empty to full pays it."""
        bucket = self._buckets.get(key)
        if bucket is None:
            self._forget()
            bucket = self._buckets[key] = _Bucket(self._burst, self._clock())
        self._fill(bucket)
        bucket.tokens = max(-self._burst, bucket.tokens - 1.0)
        self._buckets.move_to_end(key)

    def _fill(self, bucket: _Bucket) -> None:
        now = self._clock()
        bucket.tokens = min(self._burst, bucket.tokens + (now - bucket.at) * self._rate)
        bucket.at = now

    def _forget(self) -> None:
        """A full bucket says nothing that a new one would not. Two looks for each new key find them all in time."""
        for _ in range(2):
            if not self._buckets:
                return
            oldest = next(iter(self._buckets))
            self._fill(self._buckets[oldest])
            if self._buckets[oldest].tokens < self._burst and len(self._buckets) < self._keys:
                return
            del self._buckets[oldest]


class Limits:
    def __init__(
        self,
        rate: float = 200.0,
        burst: int = 2_000,
        streams_per_caller: int = 1_000,
        slow_seconds: float = 30.0,
        clock: Clock = time.monotonic,
    ) -> None:
        self.slow_seconds = slow_seconds
        """How long a client may take nothing of what is sent to it."""
        self._streams_per_caller = streams_per_caller
        self._streams: Counter[str] = Counter()
        self._callers = Buckets(rate, burst, clock)
        self._refusals = Buckets(REFUSED_RATE, REFUSED_BURST, clock)
        self._guesses = Buckets(GUESSES_PER_MINUTE / 60, GUESSES_PER_MINUTE, clock)
        self._guesses_of_address = Buckets(GUESSES_OF_ADDRESS_PER_MINUTE / 60, GUESSES_OF_ADDRESS_PER_MINUTE, clock)
        self._registrations = Buckets(REGISTRATIONS_PER_MINUTE / 60, REGISTRATIONS_AT_ONCE, clock)
        self._attempts = Buckets(ATTEMPTS_PER_MINUTE / 60, ATTEMPTS_PER_MINUTE, clock)
        self._callbacks = Buckets(CALLBACK_RATE, CALLBACK_BURST, clock)
        self._in_line: Counter[str] = Counter()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def admit(self, key: str) -> None:
        """One request of an authenticated caller."""
        if wait := self._callers.take(key):
            raise RateLimited(in_all(limits_text, "requests"), wait)

    def refuse(self, address: str) -> None:
        """One request that was not authenticated; `RateLimited` when the address has sent too many of them."""
        if wait := self._refusals.take(address):
            raise RateLimited(in_all(limits_text, "refusals"), wait)

    @asynccontextmanager
    async def sign_in(self, address: str, username: str) -> AsyncGenerator[None]:
        """Around one check of a password. `NotAuthenticated` from the block is a failure, and counts."""
        key = f"{address} {username}"
        async with self._turn(address):
            wait = max(self._guesses.wait(key), self._guesses_of_address.wait(address))
            if wait:
                raise RateLimited(in_all(limits_text, "guesses"), wait)
            try:
                yield
            except NotAuthenticated:
                self._guesses.charge(key)
                self._guesses_of_address.charge(address)
                raise

    @asynccontextmanager
    async def admit_registration(self, address: str) -> AsyncGenerator[None]:
        """Around the making of one account."""
        async with self._turn(address):
            if wait := self._registrations.take(address):
                raise RateLimited(in_all(limits_text, "registrations"), wait)
            yield

    def attempt(self, address: str) -> None:
        """One step of a single sign-on, for which this server may call the provider."""
        if wait := self._attempts.take(address):
            raise RateLimited(in_all(limits_text, "attempts"), wait)

    def callback(self, address: str) -> None:
        """One call of a vendor of channels, or of somebody who says that they are one."""
        if wait := self._callbacks.take(address):
            raise RateLimited(in_all(limits_text, "callbacks"), wait)

    @asynccontextmanager
    async def _turn(self, address: str) -> AsyncGenerator[None]:
        """One password of an address after the other: a flood of them waits in a line of its own, and a short one.

        So nobody else waits behind it, and a hundred guesses sent at once do not all pass before the first has failed.
        """
        if self._in_line[address] >= IN_LINE:
            raise RateLimited(in_all(limits_text, "in_line"), 1.0)
        self._in_line[address] += 1
        try:
            async with self._turns.setdefault(address, asyncio.Lock()):
                yield
        finally:
            self._in_line[address] -= 1
            if not self._in_line[address]:
                del self._in_line[address]

    def open_streams(self) -> int:
        """Of all callers."""
        return self._streams.total()

    @contextmanager
    def stream(self, key: str) -> Generator[None]:
        """For as long as a stream or a socket of this caller is open."""
        if self._streams[key] >= self._streams_per_caller:
            raise RateLimited(in_all(limits_text, "streams", most=self._streams_per_caller), 1.0)
        self._streams[key] += 1
        try:
            yield
        finally:
            self._streams[key] -= 1
            if not self._streams[key]:
                del self._streams[key]


def whole_seconds(seconds: float) -> str:
    """As `Retry-After` has it."""
    return str(max(1, math.ceil(seconds)))


def address_of(scope: Scope) -> str:
    """Where a connection comes from; of an IPv6 address only the network, because its owner has all the others."""
    client: tuple[str, int] | None = scope.get("client")
    if client is None:
        return ""
    try:
        address = ipaddress.ip_address(client[0].partition("%")[0])
    except ValueError:
        return client[0]
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))
