"""Queue runs: each use case that starts a run does it here, in its own transaction."""

from dataclasses import replace

from interlock.domain.event import EventData, RunStarted
from interlock.domain.ids import new_id
from interlock.domain.run import Claim, Run, RunCause, RunStatus
from interlock.domain.run_input import RunInput
from interlock.domain.thread import Thread, ThreadStatus
from interlock.services.core import Unit


async def queue_run(
    work: Unit,
    thread: Thread,
    cause: RunCause,
    given: RunInput,
    *,
    detached: bool = False,
    before: tuple[EventData, ...] = (),
    run_id: str | None = None,
) -> Run:
    """Queue a run on a locked thread, with the events that belong in front of it, and wake the runner once it commits.

    If the runner of this process has a free slot, the run is claimed at once: that saves a commit for the claim.
    The other place where a lease is taken is `lifecycle.claim`.
    """
    run_id = run_id or new_id("run")
    events = await work.record(thread.id, *before, RunStarted(run_id, cause))
    worker = work.reserve()
    run = Run(
        run_id,
        thread.id,
        cause,
        RunStatus.RUNNING if worker else RunStatus.QUEUED,
        work.now,
        input=given,
        attempt=1 if worker else 0,
        started_seq=events[0].seq,
        detached=detached,
    )
    await work.tx.runs.add(run)
    if worker:
        seconds = work.core.settings.lease_seconds
        lease = await work.tx.leases.take(thread.id, run.id, worker, work.now, seconds)
        work.start(Claim(lease, replace(thread, seq=events[-1].seq), run))
    else:
        await work.tx.threads.update(thread.id, work.now, status=ThreadStatus.RUNNING)
        work.wake(run.id)
    return run
