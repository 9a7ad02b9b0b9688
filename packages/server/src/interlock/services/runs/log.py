"""What one run has to tell: entries that wait for its next transaction, and tokens, which wait for nothing."""

from collections.abc import Sequence

from interlock.domain.event import Event, EventData, Token
from interlock.services.core import Core


class RunLog:
    """Keeps the run's entries in order until a transaction takes them along, so that a message costs no commit alone.

    A run that ends by a crash loses what no transaction took; recovery puts finished messages back from the state.
    """

    def __init__(self, core: Core, thread_id: str, seq: int) -> None:
        self._core = core
        self._thread_id = thread_id
        self._seq = seq
        self._part = 0
        self._waiting: list[EventData] = []

    def add(self, entry: EventData) -> None:
        self._waiting.append(entry)

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def take(self) -> list[EventData]:
        taken, self._waiting = self._waiting, []
        return taken

    def restore(self, entries: Sequence[EventData]) -> None:
        """The transaction that took them failed."""
        self._waiting = [*entries, *self._waiting]

    def mark_recorded(self, events: Sequence[Event]) -> None:
        if events:
            self._seq, self._part = events[-1].seq, 0

    def token(self, message_id: str, text: str) -> None:
        self._part += 1
        self._core.bus.publish(self._thread_id, [Token(self._thread_id, self._seq, self._part, message_id, text)])
