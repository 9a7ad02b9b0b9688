"""How long to go on trying while a server cannot be reached, and how long to pause between two tries."""

import asyncio
import logging
import random
import time
from collections.abc import Callable

from interlock_client.errors import InterlockError

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0

logger = logging.getLogger("interlock_client")

OnTrouble = Callable[[InterlockError], None]


class Patience:
    """Over the tries of one call. `seconds` None: it never ends. `on_trouble` is called before each pause."""

    def __init__(self, seconds: float | None, on_trouble: OnTrouble | None = None) -> None:
        self._seconds = seconds
        self._on_trouble = on_trouble
        self._since = time.monotonic()
        self._tries = 0

    async def pause(self, error: InterlockError) -> None:
        """Wait before the next try; raises the error when there is to be none."""
        # Not all at once: a server that comes back is called by everybody who waited for it.
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2**self._tries) * random.uniform(0.5, 1.0)
        pause = max(pause, error.details.get("retry_after") or 0.0)
        passed = time.monotonic() - self._since
        if self._seconds is not None and passed + pause > self._seconds:
            raise error
        if self._tries == 0:
            left = "" if self._seconds is None else f" for {self._seconds - passed:.0f} s"
            logger.warning("%s; trying again%s", error.message, left)
        if self._on_trouble is not None:
            self._on_trouble(error)
        self._tries += 1
        await asyncio.sleep(pause)

    def renew(self) -> None:
        """It was reached: the next trouble is a new one."""
        self._since = time.monotonic()
        self._tries = 0
