"""How much one caller may do, on a clock that stands still until it is told."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from interlock.domain.errors import NotAuthenticated, RateLimited
from interlock.faces.http.limits import (
    GUESSES_OF_ADDRESS_PER_MINUTE,
    GUESSES_PER_MINUTE,
    IN_LINE,
    REFUSED_BURST,
    Buckets,
    Limits,
    address_of,
    whole_seconds,
)
from interlock.passwords import MOST_WAITING, Argon2Passwords

pytestmark = pytest.mark.promise("P16")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def taken(buckets: Buckets, key: str, tries: int) -> int:
    return sum(not buckets.take(key) for _ in range(tries))


def test_a_burst_is_let_through_and_then_as_much_as_flows_in(clock: Clock) -> None:
    buckets = Buckets(rate=2.0, burst=5, clock=clock)
    assert taken(buckets, "a", 9) == 5
    clock.now += 1.5
    assert taken(buckets, "a", 9) == 3
    clock.now += 3600
    assert taken(buckets, "a", 9) == 5


def test_who_has_to_wait_is_told_how_long(clock: Clock) -> None:
    buckets = Buckets(rate=0.1, burst=1, clock=clock)
    assert buckets.take("a") == 0
    assert buckets.take("a") == pytest.approx(10)
    clock.now += 4
    assert buckets.wait("a") == pytest.approx(6)
    clock.now += 7
    assert buckets.take("a") == 0


def test_one_key_does_not_notice_another(clock: Clock) -> None:
    buckets = Buckets(rate=1.0, burst=3, clock=clock)
    assert taken(buckets, "a", 100) == 3
    assert taken(buckets, "b", 3) == 3


def test_a_debt_is_bounded(clock: Clock) -> None:
    buckets = Buckets(rate=1.0, burst=3, clock=clock)
    for _ in range(1000):
        buckets.charge("a")
    assert buckets.wait("a") == pytest.approx(4)


def test_only_so_many_keys_are_remembered_and_the_busiest_is(clock: Clock) -> None:
    buckets = Buckets(rate=0.001, burst=2, clock=clock, keys=50)
    for number in range(1000):
        buckets.charge(f"once-{number}")
        buckets.charge("flooding")
    assert len(buckets) <= 50
    assert buckets.wait("flooding") > 0


def test_who_has_been_quiet_long_enough_is_forgotten(clock: Clock) -> None:
    buckets = Buckets(rate=1.0, burst=10, clock=clock, keys=1000)
    for number in range(500):
        buckets.charge(f"early-{number}")
    clock.now += 3600
    for number in range(300):
        buckets.charge(f"late-{number}")
    assert len(buckets) == 300


def test_a_caller_over_the_rate_is_refused_and_told_when_to_come_back(clock: Clock) -> None:
    limits = Limits(rate=1.0, burst=2, clock=clock)
    limits.admit("alice")
    limits.admit("alice")
    with pytest.raises(RateLimited) as refused:
        limits.admit("alice")
    assert refused.value.retry_after == pytest.approx(1)
    limits.admit("bob")
    clock.now += 1
    limits.admit("alice")


def test_an_address_without_a_credential_has_its_own_bound(clock: Clock) -> None:
    limits = Limits(clock=clock)
    for _ in range(REFUSED_BURST):
        limits.refuse("10.0.0.1")
    with pytest.raises(RateLimited):
        limits.refuse("10.0.0.1")
    limits.refuse("10.0.0.2")


async def guess(limits: Limits, address: str, name: str, *, right: bool = False) -> str:
    try:
        async with limits.sign_in(address, name):
            if not right:
                raise NotAuthenticated("wrong")
    except (NotAuthenticated, RateLimited) as error:
        return error.code
    return "in"


async def test_failed_sign_ins_are_counted_for_a_name_at_an_address(clock: Clock) -> None:
    limits = Limits(clock=clock)
    told = [await guess(limits, "10.0.0.1", "alice") for _ in range(GUESSES_PER_MINUTE + 1)]
    assert told == ["not_authenticated"] * GUESSES_PER_MINUTE + ["rate_limited"]
    assert await guess(limits, "10.0.0.1", "alice", right=True) == "rate_limited"
    assert await guess(limits, "10.0.0.1", "bob", right=True) == "in"
    assert await guess(limits, "10.0.0.2", "alice", right=True) == "in"
    clock.now += 60 / GUESSES_PER_MINUTE
    assert await guess(limits, "10.0.0.1", "alice", right=True) == "in"


async def test_right_passwords_count_as_nothing(clock: Clock) -> None:
    limits = Limits(clock=clock)
    assert {await guess(limits, "10.0.0.1", "alice", right=True) for _ in range(100)} == {"in"}


async def test_trying_one_name_after_the_other_is_bounded_too(clock: Clock) -> None:
    limits = Limits(clock=clock)
    names = [f"name-{number}" for number in range(GUESSES_OF_ADDRESS_PER_MINUTE + 1)]
    told = [await guess(limits, "10.0.0.1", name) for name in names]
    assert told.count("rate_limited") == 1
    assert told[-1] == "rate_limited"


def test_streams_are_counted_while_they_are_open() -> None:
    limits = Limits(streams_per_caller=2)
    with limits.stream("alice"), limits.stream("bob"):
        with limits.stream("alice"), pytest.raises(RateLimited), limits.stream("alice"):
            raise AssertionError("not reached")
        with pytest.raises(KeyError), limits.stream("alice"):
            raise KeyError
        with limits.stream("alice"):
            pass
    assert not vars(limits)["_streams"]


@pytest.mark.parametrize(("seconds", "told"), [(0.0, "1"), (0.01, "1"), (1.0, "1"), (1.2, "2"), (59.0, "59")])
def test_when_to_come_back_is_told_in_whole_seconds(seconds: float, told: str) -> None:
    assert whole_seconds(seconds) == told


@pytest.mark.parametrize(
    ("scope", "address"),
    [
        ({"client": ("127.0.0.1", 1)}, "127.0.0.1"),
        ({"client": ("::ffff:10.0.0.1", 1)}, "10.0.0.1"),
        ({"client": ("2001:db8:1:2:3:4:5:6", 1)}, "2001:db8:1:2::/64"),
        ({"client": ("fe80::1%eth0", 1)}, "fe80::/64"),
        ({"client": ("somewhere", 1)}, "somewhere"),
        ({"client": None}, ""),
        ({}, ""),
    ],
)
def test_an_address_is_one_that_its_owner_cannot_change_at_will(scope: Mapping[str, Any], address: str) -> None:
    assert address_of(dict(scope)) == address


async def test_passwords_of_one_address_wait_in_a_short_line_and_those_of_others_do_not_wait_behind_them() -> None:
    limits = Limits()
    hashed: list[str] = []
    slow = asyncio.Event()

    async def sign_in(address: str, name: str) -> None:
        async with limits.sign_in(address, name):
            if address == "10.0.0.1":
                await slow.wait()
            hashed.append(address)

    flood = [asyncio.create_task(sign_in("10.0.0.1", f"name-{number}")) for number in range(IN_LINE)]
    await asyncio.sleep(0)
    with pytest.raises(RateLimited):
        await sign_in("10.0.0.1", "one more")
    with pytest.raises(RateLimited):
        async with limits.admit_registration("10.0.0.1"):
            pass
    await sign_in("10.0.0.2", "alice")
    assert hashed == ["10.0.0.2"]
    slow.set()
    await asyncio.gather(*flood)
    assert hashed == ["10.0.0.2"] + ["10.0.0.1"] * IN_LINE
    await sign_in("10.0.0.1", "later")


async def test_only_so_many_passwords_wait_to_be_hashed() -> None:
    passwords = Argon2Passwords()
    waiting = [asyncio.create_task(passwords.hash("right and long")) for _ in range(MOST_WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(RateLimited):
        await passwords.verify("$argon2id$no hash", "right and long")
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert not await passwords.verify("$argon2id$no hash", "right and long")
