"""What operators measure: how much waits, who works, and how long that takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from interlock.domain.kinds import RequestKind
from interlock.domain.run import RunStatus
from interlock.domain.worker import Worker
from interlock.services.core import Core
from interlock.services.runs.workers import GONE_SECONDS

MOST_COUNTED = 100_000
"""Where counting what is pending stops: a look at the server must not cost more than its work."""


@dataclass(frozen=True, slots=True)
class ServerStats:
    pending: Mapping[RequestKind, int]
    runs: Mapping[RunStatus, int]
    workers: Sequence[Worker]
    """Those that live."""


async def server_stats(core: Core) -> ServerStats:
    async with core.store.snapshot() as tx:
        pending = await tx.requests.pending_by_kind(MOST_COUNTED)
        runs = await tx.runs.counts()
        workers = await tx.workers.all()
    since = core.clock.now() - timedelta(seconds=GONE_SECONDS)
    return ServerStats(pending, runs, [worker for worker in workers if worker.seen_at >= since])
