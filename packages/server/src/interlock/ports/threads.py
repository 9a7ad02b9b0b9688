"""Threads, who may work on them, and what is left of those that were deleted. The rules of `ports.store` hold."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from interlock.domain.json_value import JsonObject
from interlock.domain.thread import Lease, LeaseRecord, Removal, Thread, ThreadStatus
from interlock.ports.filters import LAST_TOUCHED_FIRST, ThreadFilter, ThreadOrder


class Threads(Protocol):
    async def add(self, thread: Thread) -> None:
        """Add a thread; `Conflict` when its id was ever used, also by a thread that is deleted now."""
        ...

    async def get(self, thread_id: str) -> Thread | None:
        """The thread, or None when it never was or is deleted."""
        ...

    async def lock(self, thread_id: str) -> Thread | None:
        """As `get`, and hold its row until the transaction ends."""
        ...

    async def of_ids(self, thread_ids: Collection[str]) -> dict[str, Thread]: ...

    async def page(self, owner_id: str, offset: int, limit: int) -> tuple[list[Thread], int]:
        """The owner's threads, the one last touched first, and how many there are in all."""
        ...

    async def search(
        self, query: ThreadFilter, offset: int, limit: int, order: ThreadOrder = LAST_TOUCHED_FIRST
    ) -> list[Thread]:
        """Those that the filter finds."""
        ...

    async def count(self, query: ThreadFilter) -> int: ...

    async def newest(self, limit: int) -> list[Thread]:
        """Everybody's threads, the one last touched first."""
        ...

    async def busy_of(self, owner_id: str, after: str, limit: int) -> list[str]:
        """The ids, in their order, of the owner's threads that run or wait for people; those after that one."""
        ...

    async def idle_since(self, before: datetime, limit: int, face: str | None = None) -> list[str]:
        """The ids of idle threads, of all faces or of one, that were last touched before then, the oldest first."""
        ...

    async def count_idle_since(self, before: datetime) -> int: ...

    async def newest_of(self, face: str, owner_id: str) -> Thread | None:
        """The owner's newest thread of that face; None when they have none."""
        ...

    async def lock_newest_of(self, face: str, owner_id: str) -> Thread | None:
        """As `newest_of`, and hold its row, or the right to add one, until the transaction ends.

        Of several that ask for the same owner and face one goes on, and the others see what it did.
        """
        ...

    async def owners(self, face: str) -> list[str]:
        """The names of everybody who has a thread of that face, in order."""
        ...

    async def update(
        self,
        thread_id: str,
        at: datetime,
        *,
        status: ThreadStatus | None = None,
        title: str | None = None,
        message_count: int | None = None,
        metadata: JsonObject | None = None,
        agent: str | None = None,
    ) -> None: ...

    async def delete(self, thread_id: str, at: datetime) -> None:
        """Mark it deleted, for good, and raise its epoch so that every worker is fenced off; its secrets are destroyed.

        From here on it is gone for everybody. Its row, its last event and its audit trail stay.
        """
        ...

    async def drop(self, thread_id: str, most: int) -> bool:
        """Drop what was said and done on a deleted thread, so many rows of each kind; whether some may be left.

        What is pending is not dropped: whoever waits for it is to be told of its end.
        """
        ...


class Removals(Protocol):
    """Deleted threads of which rows are left."""

    async def add(self, removal: Removal) -> None: ...

    async def next(self) -> Removal | None:
        """One of them, locked; one that another server works on is skipped."""
        ...

    async def finish(self, thread_id: str) -> None: ...


class Leases(Protocol):
    """A lease lets one worker run one thread. Its epoch is in every write the worker makes.

    Taking a lease raises the thread's epoch; whoever held an older one is fenced off from that moment, whether it
    knows or not. A lease that is not renewed until its time may be taken by another worker. Where several servers share
    a database, that time is told by the database's clock and `at` is not heeded: theirs may differ by minutes.
    """

    async def take(self, thread_id: str, run_id: str, worker: str, at: datetime, seconds: float) -> Lease:
        """Take the lease for so long; the thread is running from then on."""
        ...

    async def check(self, lease: Lease) -> Thread:
        """Lock and return the thread; `LeaseLost` when the epoch has moved on or the thread is deleted."""
        ...

    async def renew(self, worker: str, thread_ids: Collection[str], at: datetime, seconds: float) -> set[str]:
        """Prolong the worker's leases, for so long from now; returns the threads for which it still held one."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give the lease back; nothing happens when it was lost already."""
        ...

    async def end(self, lease: Lease, status: ThreadStatus, at: datetime, message_count: int | None) -> bool:
        """Give the lease back and leave the thread in this status; `LeaseLost` when it was lost already.

        Whether another run waits its turn there.
        """
        ...

    async def active(self, limit: int) -> list[LeaseRecord]:
        """Leases that somebody holds, by worker."""
        ...

    async def requeue_lost(self, at: datetime | None) -> list[str]:
        """Queue again every running run whose lease has ended (with None: every one), raising the threads' epochs.

        Returns the ids of the runs. With None it is the take-over at the start of the only server of a data folder.
        """
        ...

    async def requeue_of(self, worker: str) -> list[str]:
        """Queue again every running run of a worker that is gone, raising the threads' epochs; the ids of the runs."""
        ...

    async def fence_off_all(self) -> None:
        """Drop every lease and raise every thread's epoch: nobody who worked on any thread before commits anything."""
        ...
