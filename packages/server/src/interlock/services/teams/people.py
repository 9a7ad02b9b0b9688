"""What somebody is told of where a request stands with its people."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from interlock.domain.principal import Principal
from interlock.domain.request import Request, RequestStatus
from interlock.domain.terms import Needs, Vote, VoteCount
from interlock.domain.thread import Thread
from interlock.ports.store import Transaction
from interlock.services.teams.eligibility import RequestAccess, access_to, needs_of
from interlock.services.teams.voting import count


@dataclass(frozen=True, slots=True)
class ClaimView:
    by: str
    is_mine: bool
    until: datetime


@dataclass(frozen=True, slots=True)
class RequestPeople:
    access: RequestAccess
    needs: Needs | None = None
    """None: it has no terms."""
    votes: VoteCount | None = None
    own_vote: bool | None = None
    """What the reader said; None: nothing yet."""
    voters: Sequence[Vote] = ()
    """For those who voted: before that everybody decides for themselves."""
    claim: ClaimView | None = None
    level: int = 0
    levels: int = 0
    policy_version: int | None = None
    rule: str | None = None
    is_excluded: bool = False
    """Whether the reader asked for it, or has put it to others."""


async def people_of(
    tx: Transaction, principal: Principal, thread: Thread, request: Request, now: datetime
) -> RequestPeople:
    access = await access_to(tx, principal, thread, request)
    routing = request.routing
    if routing is None:
        return RequestPeople(access)
    votes: VoteCount | None = None
    counted: list[Vote] = []
    if routing.terms.is_vote:
        votes, counted = await count(tx, thread, request)
    own = next((vote.is_yes for vote in counted if vote.person_id == principal.id), None)
    is_settled = request.status is not RequestStatus.PENDING
    return RequestPeople(
        access,
        await needs_of(tx, request),
        votes,
        own,
        counted if own is not None or (is_settled and not principal.is_agent) else (),
        await _claim(tx, principal, request, now),
        routing.level,
        len(routing.terms.levels),
        routing.policy_version,
        routing.rule,
        principal.id in routing.terms.excluded,
    )


async def _claim(tx: Transaction, principal: Principal, request: Request, now: datetime) -> ClaimView | None:
    assert request.routing is not None
    by, until = request.routing.claimer_at(now), request.routing.claimed_until
    if by is None or until is None or request.status is not RequestStatus.PENDING:
        return None
    names = await tx.users.names_of([by])
    return ClaimView(names.get(by, ""), by == principal.id, until)
