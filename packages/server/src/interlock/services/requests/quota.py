"""How many requests may wait for people at once: on a conversation, for one person, in all."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from interlock.domain.errors import TooManyOpen
from interlock.domain.thread import Thread
from interlock.ports.filters import PendingFilter
from interlock.ports.store import Transaction

RECOUNTED_AFTER = timedelta(seconds=2)
RETRY_SECONDS = 30.0
"""People have to answer something first."""
WARNED_AFTER = timedelta(minutes=10)
NAMED = 5
"""Owners in a warning."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Quota:
    per_conversation: int = 1_000
    per_owner: int = 10_000
    in_all: int = 100_000

    @property
    def guaranteed_share(self) -> int:
        """So many may always be open for an owner, however many wait for others."""
        return max(1, self.in_all // 10_000)


class OpenAsks:
    """Counts what waits. In all it is counted only now and then: that takes longer the more there is."""

    def __init__(self) -> None:
        self._in_all = 0
        self._counted_at: datetime | None = None
        self._warned_at: datetime | None = None

    async def check(self, tx: Transaction, quota: Quota, thread: Thread, more: int, now: datetime) -> None:
        """`TooManyOpen` when so many more than wait already would be too many. The thread is locked."""
        of_thread, of_owner = await tx.requests.count_open(
            thread.id, thread.owner_id, quota.per_conversation, quota.per_owner
        )
        _check_count(of_thread, quota.per_conversation, more, "on this conversation")
        _check_count(of_owner, quota.per_owner, more, "for its owner")
        free = quota.in_all - await self._count_all(tx, quota, now)
        if free < quota.in_all / 2:
            await self._warn(tx, quota, now)
        # As many as are left for all others: however many take all they may, some is left for who comes next.
        share = max(free, quota.guaranteed_share)
        if of_owner + more > share:
            raise _too_many(share, f"for its owner while this server has room for {max(free, 0)}")
        self._in_all += more

    async def _count_all(self, tx: Transaction, quota: Quota, now: datetime) -> int:
        if self._counted_at is None or abs(now - self._counted_at) >= RECOUNTED_AFTER:
            self._in_all = await tx.requests.count_pending(PendingFilter(), quota.in_all)
            self._counted_at = now
        return self._in_all

    async def _warn(self, tx: Transaction, quota: Quota, now: datetime) -> None:
        if self._warned_at is not None and abs(now - self._warned_at) < WARNED_AFTER:
            return
        self._warned_at = now
        counts = await tx.requests.pending_by_owner(NAMED)
        names = await tx.users.names_of(counts)
        most = ", ".join(f"{names.get(owner_id, owner_id)} ({count})" for owner_id, count in counts.items())
        logger.warning(
            "%d of %d requests (INTERLOCK_OPEN_IN_ALL) wait for people; most of them for %s",
            self._in_all, quota.in_all, most,
        )  # fmt: skip


def _check_count(count: int, most: int, more: int, where: str) -> None:
    if count + more > most:
        raise _too_many(most, where)


def _too_many(most: int, where: str) -> TooManyOpen:
    message = f"{most} requests may be open {where}, and no more: answer or cancel some of them first"
    return TooManyOpen(message, RETRY_SECONDS)
