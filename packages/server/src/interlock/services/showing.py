"""What was shown to whom, for faces whose replies do not name their question.

A bare "continue" may only settle a pause that its sender has seen: else the second half of a double click, or a reply
sent twice at once, would approve whatever the agent asks next. A pause counts as seen by a person once a frame or a
reply with it has been handed to their connection; a pause that has been open for a while counts as seen by everybody,
since then it cannot be the answer to an earlier click.
"""

from collections import OrderedDict
from datetime import datetime, timedelta

SETTLED_VIEW = timedelta(seconds=2)
REMEMBERED = 10_000


class Showing:
    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[str, str], None] = OrderedDict()

    def show(self, pause_id: str, principal_id: str) -> None:
        self._seen[(pause_id, principal_id)] = None
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)

    def was_shown(self, pause_id: str, opened_at: datetime, principal_id: str, now: datetime) -> bool:
        return (pause_id, principal_id) in self._seen or now - opened_at >= SETTLED_VIEW
