"""Waiting, with a bound."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

WAIT_SECONDS = 60.0
"""Many times what it takes: of a machine that is busy with other tests nothing is to be concluded."""
NOTICED_SECONDS = 14.0
"""Promised are 5. On a busy machine it is before an idle stream shows its sign of life, at which it would look too."""


def wait_for(look: Callable[[], T], is_right: Callable[[T], bool], seconds: float = WAIT_SECONDS) -> T:
    """Look until it is right; what was seen last is in the failure."""
    deadline = time.monotonic() + seconds
    while True:
        seen = look()
        if is_right(seen):
            return seen
        assert time.monotonic() < deadline, f"still not so after {seconds} s: {seen}"
        time.sleep(0.02)
