"""Waiting, with a bound."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

WAIT_SECONDS = 20.0


def wait_for(look: Callable[[], T], is_right: Callable[[T], bool]) -> T:
    """Look until it is right; what was seen last is in the failure."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        seen = look()
        if is_right(seen):
            return seen
        assert time.monotonic() < deadline, f"still not so after {WAIT_SECONDS} s: {seen}"
        time.sleep(0.02)
