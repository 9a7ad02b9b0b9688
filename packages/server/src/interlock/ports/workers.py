"""Workers, by their signs of life, and what servers ask each other."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Protocol

from interlock.domain.worker import Worker


class FollowerQuestions(Protocol):
    """Threads of which a server asks whether anybody follows them at another."""

    async def ask(self, thread_id: str, mark: str, at: datetime) -> None:
        """Ask, in the place of whoever asked before."""
        ...

    async def open_questions(self) -> list[str]: ...

    async def answer_followed(self, thread_ids: Collection[str]) -> None:
        """Somebody does: the question is taken away."""
        ...

    async def is_open(self, thread_id: str, mark: str) -> bool: ...

    async def take_back(self, thread_id: str, mark: str) -> bool:
        """Whether this question still stands, which it does no more then."""
        ...

    async def forget(self, before: datetime) -> None:
        """Drop what was asked before then, by a server that is gone."""
        ...


class Servers(Protocol):
    """The servers that share the store, by the moment (milliseconds) at which each last began to look."""

    async def moment(self, now: datetime) -> int:
        """When this transaction began: by the store's own clock, where several share it, and else `now`."""
        ...

    async def sign(self, server: str, moment: int, forgotten: int) -> None:
        """It looked at that moment, and has said what it had to say. Who is silent for so long is forgotten."""
        ...

    async def leave(self, server: str) -> None: ...

    async def any_between(self, first: int, last: int, besides: str) -> bool:
        """Whether another one looked last between these moments."""
        ...


class Workers(Protocol):
    async def beat(self, worker: Worker) -> None:
        """It lives; the first time, it is one of them."""
        ...

    async def leave(self, worker_id: str) -> None: ...

    async def dismiss(self, worker_id: str, at: datetime) -> None:
        """Whoever watches it says that it is gone. It may still run for a moment, and takes no run any more."""
        ...

    async def is_dismissed(self, worker_id: str) -> bool: ...

    async def all(self) -> list[Worker]:
        """By their nodes and names."""
        ...

    async def seconds_since_heartbeat(self, now: datetime) -> float | None:
        """Seconds since one of them was last heard of; None when none is known. By whose clock, see `Leases`."""
        ...

    async def forget(self, now: datetime, silence: timedelta) -> None:
        """Drop those that were not heard of for so long, and what is known of those dismissed before."""
        ...
