"""Groups, who requests are put to, votes, claims, comments, and who is away."""

from collections.abc import Collection, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, case, delete, false, func, insert, literal_column, or_, select, update

from interlock.domain.figures import SettledVote
from interlock.domain.kinds import ApprovalAnswer
from interlock.domain.request import AnswerOrigin, Request, RequestStatus
from interlock.domain.team import Away, Candidate, Comment, Group
from interlock.domain.terms import Terms, Vote
from interlock.storage._repository import Repository, batched, insert_for
from interlock.storage.requests import request_of
from interlock.storage.schema import answers, aways, candidates, comments, groups, memberships, requests, votes

# Written out, not bound: only then can the partial index serve the query.
_IS_PENDING = requests.c.status == literal_column(f"'{RequestStatus.PENDING}'")
_IS_THIS = requests.c.id == bindparam("of_request")
_CANDIDATES = (
    select(candidates)
    .where(candidates.c.request_id == bindparam("of_request"))
    .order_by(candidates.c.level, candidates.c.who)
)
_VOTES = select(votes).where(votes.c.request_id == bindparam("of_request")).order_by(votes.c.at, votes.c.person_id)
_CLOSE = update(candidates).where(candidates.c.request_id == bindparam("of_request")).values(is_open=false())


class SqlGroups(Repository):
    async def add(self, group: Group) -> bool:
        row = {"name": group.name, "source": group.source, "created_at": group.created_at}
        if not await self._changed(insert_for(groups, is_postgres=self._is_postgres).on_conflict_do_nothing(), row):
            return False
        await self._add_members(group.name, group.members)
        return True

    async def get(self, name: str) -> Group | None:
        row = (await self._connection.execute(select(groups).where(groups.c.name == name))).one_or_none()
        if row is None:
            return None
        members = await self._connection.scalars(
            select(memberships.c.person_id).where(memberships.c.group_name == name).order_by(memberships.c.person_id)
        )
        return Group(row.name, row.source, row.created_at, tuple(members))

    async def all(self) -> list[Group]:
        found = (await self._connection.execute(select(groups).order_by(groups.c.name))).all()
        members: dict[str, list[str]] = {}
        for row in await self._connection.execute(select(memberships).order_by(memberships.c.person_id)):
            members.setdefault(row.group_name, []).append(row.person_id)
        return [Group(row.name, row.source, row.created_at, tuple(members.get(row.name, ()))) for row in found]

    async def set_members(self, name: str, person_ids: Collection[str]) -> None:
        await self._connection.execute(delete(memberships).where(memberships.c.group_name == name))
        await self._add_members(name, person_ids)

    async def set_of_person(self, person_id: str, source: str, names: Collection[str]) -> None:
        of_source = select(groups.c.name).where(groups.c.source == source)
        mine = memberships.c.person_id == person_id, memberships.c.group_name.in_(of_source)
        await self._connection.execute(delete(memberships).where(*mine))
        rows = [{"group_name": name, "person_id": person_id} for name in dict.fromkeys(names)]
        if rows:
            await self._connection.execute(insert(memberships), rows)

    async def remove(self, name: str) -> bool:
        await self._connection.execute(delete(memberships).where(memberships.c.group_name == name))
        return await self._changed(delete(groups).where(groups.c.name == name))

    async def of_people(self, person_ids: Collection[str]) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for some in batched(person_ids):
            for row in await self._connection.execute(select(memberships).where(memberships.c.person_id.in_(some))):
                found.setdefault(row.person_id, set()).add(row.group_name)
        return {person_id: frozenset(names) for person_id, names in found.items()}

    async def _add_members(self, name: str, person_ids: Collection[str]) -> None:
        rows = [{"group_name": name, "person_id": one} for one in dict.fromkeys(person_ids)]
        if rows:
            await self._connection.execute(insert(memberships), rows)


class SqlRoutes(Repository):
    async def add(self, found: Sequence[Candidate]) -> None:
        rows = {(one.request_id, one.who): _values(one) | {"is_open": True} for one in found}
        if not rows:
            return
        insert = insert_for(candidates, is_postgres=self._is_postgres)
        gained = or_(candidates.c.is_added, insert.excluded.is_added)
        insert = insert.on_conflict_do_update(index_elements=["request_id", "who"], set_={"is_added": gained})
        await self._connection.execute(insert, list(rows.values()))

    async def of_request(self, request_id: str) -> list[Candidate]:
        found = await self._connection.execute(_CANDIDATES, {"of_request": request_id})
        return [Candidate(**{one.name: getattr(row, one.name) for one in fields(Candidate)}) for row in found]

    async def set_terms(self, request_id: str, terms: Terms) -> None:
        changed = update(requests).where(_IS_THIS, _IS_PENDING).values(terms=terms.to_json())
        await self._connection.execute(changed, {"of_request": request_id})

    async def close(self, request_id: str) -> None:
        await self._connection.execute(_CLOSE, {"of_request": request_id})

    async def claim(self, request_id: str, person_id: str, now: datetime, until: datetime) -> bool:
        free = or_(requests.c.claimed_by.is_(None), requests.c.claimed_by == person_id, requests.c.claimed_until <= now)
        later = case((requests.c.escalate_at < until, until), else_=requests.c.escalate_at)
        claimed = update(requests).where(_IS_THIS, _IS_PENDING, free)
        claimed = claimed.values(
            claimed_by=person_id,
            claimed_until=until,
            claimed_at=func.coalesce(requests.c.claimed_at, now),
            escalate_at=later,
        )
        return await self._changed(claimed, {"of_request": request_id})

    async def release(self, request_id: str, person_id: str) -> bool:
        released = update(requests).where(_IS_THIS, _IS_PENDING, requests.c.claimed_by == person_id)
        return await self._changed(released.values(claimed_by=None, claimed_until=None), {"of_request": request_id})

    async def due_levels(self, now: datetime, limit: int) -> list[Request]:
        due = (
            select(requests)
            .where(_IS_PENDING, requests.c.escalate_at.is_not(None), requests.c.escalate_at <= now)
            .order_by(requests.c.escalate_at, requests.c.id)
            .limit(limit)
        )
        return [request_of(row) for row in await self._connection.execute(due)]

    async def next_level(self) -> datetime | None:
        waiting = select(func.min(requests.c.escalate_at)).where(_IS_PENDING, requests.c.escalate_at.is_not(None))
        return await self._connection.scalar(waiting)

    async def open_level(self, request_id: str, level: int, now: datetime, then: datetime | None) -> bool:
        before = update(requests).where(_IS_THIS, *_is_due(level - 1, now))
        opened = before.values(level=level, escalate_at=then, claimed_by=None, claimed_until=None, claimed_at=None)
        return await self._changed(opened, {"of_request": request_id})

    async def end_levels(self, request_id: str, level: int, now: datetime) -> bool:
        ended = update(requests).where(_IS_THIS, *_is_due(level, now)).values(escalate_at=None)
        return await self._changed(ended, {"of_request": request_id})

    async def put_vote(self, vote: Vote) -> None:
        putting = insert_for(votes, is_postgres=self._is_postgres)
        changed = {name: putting.excluded[name] for name in ("name", "is_yes", "at", "source", "reason", "metadata")}
        putting = putting.on_conflict_do_update(index_elements=["request_id", "person_id"], set_=changed)
        await self._connection.execute(putting, _values(vote))

    async def withdraw_vote(self, request_id: str, person_id: str) -> bool:
        own = and_(votes.c.request_id == request_id, votes.c.person_id == person_id)
        return await self._changed(delete(votes).where(own))

    async def votes(self, request_id: str) -> list[Vote]:
        found = await self._connection.execute(_VOTES, {"of_request": request_id})
        return [Vote(**{one.name: getattr(row, one.name) for one in fields(Vote)}) for row in found]

    async def settled_votes(self, since: datetime, person_id: str | None, limit: int) -> list[SettledVote]:
        found = (
            select(votes.c.person_id, votes.c.at, votes.c.is_yes, answers.c.value)
            .join_from(votes, answers, answers.c.request_id == votes.c.request_id)
            .where(votes.c.at >= since, answers.c.origin == AnswerOrigin.PERSON)
            .order_by(votes.c.at.desc())
            .limit(limit)
        )
        if person_id is not None:
            found = found.where(votes.c.person_id == person_id)
        return [
            SettledVote(row.person_id, row.at, row.is_yes, ApprovalAnswer.from_json(row.value).runs)
            for row in await self._connection.execute(found)
        ]

    async def add_comment(self, comment: Comment) -> None:
        await self._connection.execute(insert(comments), _values(comment))

    async def comments(self, request_id: str, limit: int) -> list[Comment]:
        own = select(comments).where(comments.c.request_id == request_id)
        found = await self._connection.execute(own.order_by(comments.c.at, comments.c.id).limit(limit))
        return [Comment(row.id, row.request_id, row.by_id, row.by_name, row.text, row.at) for row in found]

    async def set_away(self, away: Away) -> None:
        setting = insert_for(aways, is_postgres=self._is_postgres)
        changed = {name: setting.excluded[name] for name in ("since", "until", "to_id")}
        setting = setting.on_conflict_do_update(index_elements=["person_id"], set_=changed)
        await self._connection.execute(setting, _values(away))

    async def end_away(self, person_id: str) -> bool:
        return await self._changed(delete(aways).where(aways.c.person_id == person_id))

    async def aways(self, person_ids: Collection[str]) -> dict[str, Away]:
        found: dict[str, Away] = {}
        for some in batched(person_ids):
            for row in await self._connection.execute(select(aways).where(aways.c.person_id.in_(some))):
                found[row.person_id] = Away(row.person_id, row.since, row.until, row.to_id)
        return found


def _is_due(level: int, now: datetime) -> tuple[Any, ...]:
    return _IS_PENDING, requests.c.level == level, requests.c.escalate_at <= now


def _values(row: Candidate | Vote | Comment | Away) -> dict[str, Any]:
    return {one.name: getattr(row, one.name) for one in fields(row)}
