"""How many requests may wait for people at once: on a conversation, for one person, in all."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from interlock.domain.errors import TooManyOpen
from interlock.domain.thread import Thread
from interlock.ports.filters import PendingFilter
from interlock.ports.store import Transaction

RECOUNTED_AFTER = timedelta(seconds=2)
RETRY_SECONDS = 30.0
"""People have to answer something first."""


@dataclass(frozen=True, slots=True)
class Quota:
    per_conversation: int = 1_000
    per_owner: int = 10_000
    in_all: int = 100_000


class OpenAsks:
    """Counts what waits. In all it is counted only now and then: that takes longer the more there is."""

    def __init__(self) -> None:
        self._in_all = 0
        self._counted_at: datetime | None = None

    async def check(self, tx: Transaction, quota: Quota, thread: Thread, more: int, now: datetime) -> None:
        """`TooManyOpen` when so many more than wait already would be too many. The thread is locked."""
        for most, wanted, where, remedy in _narrow(quota, thread):
            if more > most or await tx.requests.count_pending(wanted, most) + more > most:
                raise _too_many(most, where, remedy)
        if await self._all(tx, quota, now) + more > quota.in_all:
            raise _too_many(quota.in_all, "on this server", "try again when some of them are answered")
        self._in_all += more

    async def _all(self, tx: Transaction, quota: Quota, now: datetime) -> int:
        if self._counted_at is None or abs(now - self._counted_at) >= RECOUNTED_AFTER:
            self._in_all = await tx.requests.count_pending(PendingFilter(), quota.in_all)
            self._counted_at = now
        return self._in_all


def _narrow(quota: Quota, thread: Thread) -> Sequence[tuple[int, PendingFilter, str, str]]:
    answer = "answer or cancel some of them first"
    return (
        (quota.per_conversation, PendingFilter(thread_id=thread.id), "on this conversation", answer),
        (quota.per_owner, PendingFilter(owner_id=thread.owner_id), "for its owner", answer),
    )


def _too_many(most: int, where: str, remedy: str) -> TooManyOpen:
    return TooManyOpen(f"{most} requests may be open {where}, and no more: {remedy}", RETRY_SECONDS, most=most)
