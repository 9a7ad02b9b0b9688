"""Workers, by their signs of life."""

from datetime import datetime, timedelta
from typing import Protocol

from interlock.domain.worker import Worker


class Workers(Protocol):
    async def beat(self, worker: Worker) -> None:
        """It lives; the first time, it is one of them."""
        ...

    async def leave(self, worker_id: str) -> None: ...

    async def all(self) -> list[Worker]:
        """By their nodes and names."""
        ...

    async def silence(self, now: datetime) -> float | None:
        """Seconds since one of them was last heard of; None when none is known. By whose clock, see `Leases`."""
        ...

    async def forget(self, now: datetime, silence: timedelta) -> None:
        """Drop those that were not heard of for so long."""
        ...
