"""A claim: a run that one worker has taken, with the lease that lets it."""

from dataclasses import dataclass

from interlock.domain.run import Run
from interlock.domain.thread import Lease, Thread


@dataclass(frozen=True, slots=True)
class Claim:
    lease: Lease
    thread: Thread
    run: Run
