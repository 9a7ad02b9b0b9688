"""Workers, by their signs of life."""

from datetime import datetime
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

    async def last_seen(self) -> datetime | None:
        """When one of them was last heard of."""
        ...

    async def forget(self, before: datetime) -> None:
        """Drop those that were not heard of since."""
        ...
