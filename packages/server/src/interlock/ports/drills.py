"""The repository of drills, which nothing but what shows them to their person looks at."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from interlock.domain.drill import Drill


class Drills(Protocol):
    async def add(self, planted: Sequence[Drill]) -> None: ...

    async def get(self, drill_id: str) -> Drill | None: ...

    async def open_of(self, person_id: str, since: datetime, until: datetime) -> list[Drill]:
        """Those that came, or come, in that time and have no answer, the oldest first."""
        ...

    async def moved(self, person_id: str, after: datetime, until: datetime) -> list[Drill]:
        """Those that came or were answered in that time."""
        ...

    async def settle(self, drill_id: str, decision: str, at: datetime) -> bool:
        """False when it was settled before."""
        ...

    async def settled_since(self, since: datetime, person_id: str | None) -> list[Drill]:
        """The person's, or with None everybody's."""
        ...

    async def purge(self, unanswered: datetime, answered: datetime) -> None:
        """Drop those without an answer that came before the one moment, and others settled before the other."""
        ...

    async def drop_of(self, person_id: str) -> None: ...
