"""A session: the one conversation that a user of the sessions face has. Its state is that of its last run."""

from collections.abc import Mapping
from enum import StrEnum

from interlock.domain.run import Run, RunStatus


class SessionState(StrEnum):
    NOT_FOUND = "not_found"
    IDLE = "idle"
    """Nothing came of the last run: it was stopped."""
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    """People are waited for."""
    COMPLETED = "completed"
    ERROR = "error"


_STATES: Mapping[RunStatus, SessionState] = {
    RunStatus.QUEUED: SessionState.RUNNING,
    RunStatus.RUNNING: SessionState.RUNNING,
    RunStatus.PAUSED: SessionState.INTERRUPTED,
    RunStatus.DONE: SessionState.COMPLETED,
    RunStatus.FAILED: SessionState.ERROR,
    RunStatus.STOPPED: SessionState.IDLE,
    RunStatus.NOT_ANSWERED: SessionState.ERROR,
}


def state_after(run: Run | None) -> SessionState:
    return SessionState.IDLE if run is None else _STATES[run.status]
