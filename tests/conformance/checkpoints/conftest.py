"""What the saver's tests stand on: a saver, and threads with a lease."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import insert

from interlock.domain.thread import Lease
from interlock.storage.checkpoints import CheckpointSaver
from interlock.storage.database import Database
from interlock.storage.schema import threads

Leases = Callable[[str], Awaitable[Lease]]

NOW = datetime(2026, 11, 15, tzinfo=UTC)


@pytest.fixture
async def saver(database: Database) -> CheckpointSaver:
    """Async, so that the saver finds the loop that its sync methods wait for."""
    return CheckpointSaver(database)


@pytest.fixture
def lease_on(database: Database) -> Leases:
    """Create a thread, leased to a worker."""

    async def create(thread_id: str) -> Lease:
        lease = Lease(thread_id=thread_id, run_id="run-1", worker="worker-1", epoch=7)
        row = {
            "id": thread_id,
            "owner_id": "ann",
            "agent": "demo",
            "title": "",
            "status": "running",
            "seq": 0,
            "message_count": 0,
            "epoch": lease.epoch,
            "lease_worker": lease.worker,
            "lease_run": lease.run_id,
            "lease_until": NOW,
            "created_at": NOW,
            "updated_at": NOW,
        }
        async with database.write() as connection:
            await connection.execute(insert(threads).values(row))
        return lease

    return create
