"""What was shown to whom, for faces whose replies do not name their question.

A bare "continue" may only settle a pause that its sender has seen: else the second half of a double click, or a reply
sent twice at once, would approve whatever the agent asks next. A pause counts as seen by a person once a frame or a
reply with it has been handed to their connection; a pause that has been open for a while counts as seen by everybody,
since then it cannot be the answer to an earlier click.

A fast agent may show its next question between the two halves of a double click. So a person's own replies are
remembered too: a face that knows a reply to come from a browser refuses one that follows the last too closely.
"""

from collections import OrderedDict
from datetime import datetime, timedelta

SETTLED_VIEW = timedelta(seconds=2)
DOUBLE_CLICK = timedelta(seconds=1)
REMEMBERED = 10_000


class Showing:
    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._replied: OrderedDict[tuple[str, str], datetime] = OrderedDict()

    def show(self, pause_id: str, principal_id: str) -> None:
        self._seen[(pause_id, principal_id)] = None
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)

    def was_seen(self, pause_id: str, principal_id: str) -> bool:
        """Whether it was handed to them, however long it has been open."""
        return (pause_id, principal_id) in self._seen

    def was_shown(self, pause_id: str, opened_at: datetime, principal_id: str, now: datetime) -> bool:
        return self.was_seen(pause_id, principal_id) or now - opened_at >= SETTLED_VIEW

    def replied(self, thread_id: str, principal_id: str, now: datetime) -> None:
        self._replied.pop((thread_id, principal_id), None)
        self._replied[(thread_id, principal_id)] = now
        while len(self._replied) > REMEMBERED:
            self._replied.popitem(last=False)

    def has_just_replied(self, thread_id: str, principal_id: str, now: datetime) -> bool:
        last = self._replied.get((thread_id, principal_id))
        return last is not None and now - last < DOUBLE_CLICK
