"""A run that waits its turn: others run on its thread, or wait for people, before it."""

from dataclasses import dataclass
from datetime import datetime

from interlock.domain.run_input import GraphInput, MessageInput


@dataclass(frozen=True, slots=True)
class WaitingRun:
    id: str
    """The run's own, from now on."""
    thread_id: str
    input: MessageInput | GraphInput
    by_id: str
    by_name: str
    created_at: datetime
    detached: bool = False
