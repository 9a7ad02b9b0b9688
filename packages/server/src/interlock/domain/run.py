"""A run: one execution of the agent on a thread, started by a message or by an answer."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from interlock.domain.run_input import GraphInput, MessageInput, NoInput, RunInput
from interlock.domain.thread import Lease, Thread
from interlock.domain.transitions import Transitions


class RunCause(StrEnum):
    MESSAGE = "message"
    ANSWER = "answer"
    RETRY = "retry"
    """Once more from where the last run failed, with the answers that are on record."""


class RunStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    NOT_ANSWERED = "not_answered"
    """Ended because nobody answered, where the agent's graph offers no way to be told so."""


RUN = Transitions(
    "run",
    {
        RunStatus.QUEUED: frozenset({RunStatus.RUNNING, RunStatus.FAILED, RunStatus.STOPPED, RunStatus.NOT_ANSWERED}),
        RunStatus.RUNNING: frozenset(
            {
                RunStatus.QUEUED,
                RunStatus.PAUSED,
                RunStatus.DONE,
                RunStatus.FAILED,
                RunStatus.STOPPED,
                RunStatus.NOT_ANSWERED,
            }
        ),
        RunStatus.PAUSED: frozenset(),
        RunStatus.DONE: frozenset(),
        RunStatus.FAILED: frozenset(),
        RunStatus.STOPPED: frozenset(),
        RunStatus.NOT_ANSWERED: frozenset(),
    },
)

ACTIVE = (RunStatus.QUEUED, RunStatus.RUNNING)


@dataclass(frozen=True, slots=True)
class Run:
    id: str
    thread_id: str
    cause: RunCause
    status: RunStatus
    created_at: datetime
    input: RunInput = field(default_factory=NoInput)
    """Of a message; the others go on from the thread's state and its answers."""
    attempt: int = 0
    """How often it was claimed; above one it was interrupted by a crash or a lost lease."""
    started_seq: int = 0
    """The number of its first event."""
    stop_reason: str | None = None
    """Set when somebody asked the run to stop; the worker drains it."""
    detached: bool = False
    """Whether it goes on when its last follower has gone."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A run that one worker has taken, with the lease that lets it."""

    lease: Lease
    thread: Thread
    run: Run


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A run that waits its turn: others run on its thread, or wait for people, before it."""

    id: str
    """The run's own, from now on."""
    thread_id: str
    input: MessageInput | GraphInput
    by_id: str
    by_name: str
    created_at: datetime
    detached: bool = False
