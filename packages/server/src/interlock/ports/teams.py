"""Repositories of groups, and of what people do with requests that are put to them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from interlock.domain.figures import SettledVote
from interlock.domain.request import Request
from interlock.domain.team import Away, Candidate, Comment, Group
from interlock.domain.terms import Terms, Vote


class Groups(Protocol):
    async def add(self, group: Group) -> bool:
        """With its members; False where the name is taken."""
        ...

    async def get(self, name: str) -> Group | None: ...

    async def all(self) -> list[Group]:
        """By name."""
        ...

    async def set_members(self, name: str, person_ids: Collection[str]) -> None: ...

    async def set_of_person(self, person_id: str, source: str, names: Collection[str]) -> None:
        """Of the groups of that source somebody is in these from now on, and in no other."""
        ...

    async def remove(self, name: str) -> bool:
        """Whether it was there. Where it is a candidate, it is one without members."""
        ...

    async def of_people(self, person_ids: Collection[str]) -> dict[str, frozenset[str]]:
        """By person, the names of their groups; nothing for who is in none."""
        ...


class Routes(Protocol):
    """Who requests are put to, and what those said. Whoever writes holds the thread."""

    async def add(self, found: Sequence[Candidate]) -> None:
        """One that is there already stays as it is, but for `is_added`, which it may gain."""
        ...

    async def of_request(self, request_id: str) -> list[Candidate]:
        """In the order of their levels."""
        ...

    async def set_terms(self, request_id: str, terms: Terms) -> None:
        """Of a pending request: who passed it on says yes to it no more."""
        ...

    async def close(self, request_id: str) -> None:
        """The request is settled: it is in nobody's list any more."""
        ...

    async def claim(self, request_id: str, person_id: str, now: datetime, until: datetime) -> bool:
        """Claim a pending request that nobody else has; the next level does not open before the claim ends."""
        ...

    async def release(self, request_id: str, person_id: str) -> bool:
        """End the claim of this person; False where they have none."""
        ...

    async def due_levels(self, now: datetime, limit: int) -> list[Request]:
        """Pending requests whose next level, or end, is due by now; the longest overdue first."""
        ...

    async def next_level(self) -> datetime | None:
        """When the next one is due."""
        ...

    async def open_level(self, request_id: str, level: int, now: datetime, then: datetime | None) -> bool:
        """Go from the level before to this one, if that is due and the request pending: True for the one that did."""
        ...

    async def end_levels(self, request_id: str, level: int, now: datetime) -> bool:
        """After the last level: True for the one that came first, and brings about the end."""
        ...

    async def put_vote(self, vote: Vote) -> None:
        """A person has one vote: it takes the place of what they said before."""
        ...

    async def withdraw_vote(self, request_id: str, person_id: str) -> bool: ...

    async def votes(self, request_id: str) -> list[Vote]:
        """In the order in which they came."""
        ...

    async def settled_votes(self, since: datetime, person_id: str | None, limit: int) -> list[SettledVote]:
        """Given since then on what people have decided, by one person or by everybody; the last ones first."""
        ...

    async def add_comment(self, comment: Comment) -> None: ...

    async def comments(self, request_id: str, limit: int) -> list[Comment]:
        """The oldest first."""
        ...

    async def set_away(self, away: Away) -> None:
        """A person has one at most: it takes the place of the one before."""
        ...

    async def end_away(self, person_id: str) -> bool: ...

    async def aways(self, person_ids: Collection[str]) -> dict[str, Away]: ...
