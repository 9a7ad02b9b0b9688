"""A thread: a conversation between one owner and one agent."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from interlock.domain.json_value import JsonObject
from interlock.domain.transitions import Transitions

CONFIRM = "confirm"
"""The face whose threads have a deadline of their own for approvals."""
ONE_RUN = "one-run"
"""In its place: a thread that was made for one run, and is deleted when that has ended."""


class ThreadStatus(StrEnum):
    IDLE = "idle"
    RUNNING = "running"
    PAUSED = "paused"
    DELETED = "deleted"


THREAD = Transitions(
    "thread",
    {
        ThreadStatus.IDLE: frozenset({ThreadStatus.RUNNING, ThreadStatus.PAUSED, ThreadStatus.DELETED}),
        ThreadStatus.RUNNING: frozenset({ThreadStatus.IDLE, ThreadStatus.PAUSED, ThreadStatus.DELETED}),
        ThreadStatus.PAUSED: frozenset({ThreadStatus.RUNNING, ThreadStatus.IDLE, ThreadStatus.DELETED}),
        ThreadStatus.DELETED: frozenset(),
    },
)


@dataclass(frozen=True, slots=True)
class Thread:
    id: str
    owner_id: str
    agent: str
    title: str
    status: ThreadStatus
    seq: int
    """The number of the last event in the thread's log."""
    epoch: int
    """Grows with every lease; a worker that holds an older one commits nothing."""
    message_count: int
    created_at: datetime
    updated_at: datetime
    asker_id: str | None = None
    """Who asks on it, where its agent runs elsewhere: a key, or a person's program. None for an agent hosted here."""
    face: str = ""
    """The face that it belongs to, where one keeps threads of its own."""
    metadata: JsonObject = field(default_factory=JsonObject)
    """What clients noted on it."""

    @property
    def is_outside(self) -> bool:
        """Whether its agent runs elsewhere: nothing is run here when an answer comes, the asker is told."""
        return self.asker_id is not None


@dataclass(frozen=True, slots=True)
class Removal:
    """A deleted thread of which rows are left, and who deleted it."""

    thread_id: str
    by_id: str
    by_name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """A lease as the store has it: who holds it, and until when."""

    thread_id: str
    run_id: str
    worker: str
    epoch: int
    until: datetime


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run a thread: held by one worker, until it is released, expires or is taken over."""

    thread_id: str
    run_id: str
    worker: str
    epoch: int


TITLE_LENGTH = 60


def title_of(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"
