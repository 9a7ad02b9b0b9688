"""Who has which request on their screen right now, as far as this process was told."""

from collections.abc import Collection
from datetime import datetime

from interlock.domain.event import Looking

REMEMBERED = 10_000


class Lookers:
    def __init__(self) -> None:
        self._until: dict[tuple[str, str], datetime] = {}

    def add(self, looking: Looking) -> None:
        self._until.pop((looking.request_id, looking.name), None)
        self._until[(looking.request_id, looking.name)] = looking.until
        while len(self._until) > REMEMBERED:
            del self._until[next(iter(self._until))]

    def at(self, request_ids: Collection[str], now: datetime) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for (request_id, name), until in self._until.items():
            if request_id in request_ids and until > now:
                found.setdefault(request_id, []).append(name)
        return found
