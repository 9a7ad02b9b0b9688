"""What somebody is told of where a request stands with its people."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from interlock.domain.event import EventType, RequestRouted
from interlock.domain.principal import ESCALATION, Principal
from interlock.domain.request import Request, RequestStatus
from interlock.domain.terms import Needs, Vote, VoteCount
from interlock.domain.thread import Thread
from interlock.ports.store import Transaction
from interlock.services.teams.eligibility import RequestAccess, access_to, claimer_of, needs_of
from interlock.services.teams.override import may_override
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
    may_override: bool = False
    """Whether the reader may answer it alone, without a right to."""


@dataclass(frozen=True, slots=True)
class PassedOn:
    by: str
    to: Sequence[str]
    """Groups and people, by name."""
    note: str | None
    at: datetime


MOST_LOOKED_AT = 10


async def people_of(
    tx: Transaction,
    principal: Principal,
    thread: Thread,
    request: Request,
    now: datetime,
    *,
    break_glass: bool = False,
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
        await _claim(tx, principal, thread, request, now),
        routing.level,
        len(routing.terms.levels),
        routing.policy_version,
        routing.rule,
        principal.id in routing.terms.excluded,
        break_glass and not is_settled and await may_override(tx, principal, thread, request, access),
    )


async def _claim(
    tx: Transaction, principal: Principal, thread: Thread, request: Request, now: datetime
) -> ClaimView | None:
    assert request.routing is not None
    if request.status is not RequestStatus.PENDING:
        return None
    by, until = await claimer_of(tx, thread, request, now), request.routing.claimed_until
    if by is None or until is None:
        return None
    names = await tx.users.names_of([by])
    return ClaimView(names.get(by, ""), by == principal.id, until)


async def last_passed_on(tx: Transaction, thread: Thread, request: Request) -> PassedOn | None:
    """Who put it to others last, beside its levels; None too where so much was put to others since that it is not
    looked for any further."""
    if request.routing is None:
        return None
    until = thread.seq
    for _ in range(MOST_LOOKED_AT):
        event = await tx.events.last(thread.id, EventType.REQUEST_ROUTED, until)
        if event is None or not isinstance(event.data, RequestRouted):
            return None
        routed, until = event.data, event.seq - 1
        if routed.request_id == request.id and routed.by != ESCALATION.name:
            return PassedOn(routed.by, routed.candidates, routed.note, event.at)
    return None
