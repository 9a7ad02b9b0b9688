"""Who may see a request, say yes to it, or end it without one: the one place that decides it.

Stopping is wide and starting is narrow: whoever asked, and admins, may refuse or cancel what they may not approve.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from interlock.domain.principal import Principal, Role, User, principal_of
from interlock.domain.request import Request
from interlock.domain.team import Candidate
from interlock.domain.terms import EVERYBODY, GROUP, PERSON, Needs, Terms
from interlock.domain.thread import Thread
from interlock.ports.store import Transaction


@dataclass(frozen=True, slots=True)
class RequestAccess:
    may_see: bool
    may_answer: bool
    """A yes, or any other answer to what is asked."""
    may_refuse: bool
    """End it without one."""
    open_steps: frozenset[int] = frozenset()
    """The places that a yes of theirs may fill."""


async def access_to(tx: Transaction, principal: Principal, thread: Thread, request: Request) -> RequestAccess:
    """Without terms all of it follows from the thread, and nothing is read."""
    may_see, may_answer = principal.may_see(thread), principal.may_answer(thread)
    if request.routing is None:
        return RequestAccess(may_see, may_answer, may_answer)
    if principal.is_agent:
        return RequestAccess(may_see, may_answer=False, may_refuse=False)
    candidates = await tx.routes.of_request(request.id)
    groups = (await tx.groups.of_people([principal.id])).get(principal.id, frozenset())
    steps = _open_steps(request.routing.terms, candidates, principal, thread, groups)
    is_candidate = not set(_candidacies(principal, thread, groups)).isdisjoint(one.who for one in candidates)
    has_asked = principal.id == thread.owner_id or principal.id in request.routing.terms.excluded
    return RequestAccess(
        may_see=may_see or is_candidate,
        may_answer=bool(steps),
        may_refuse=bool(steps) or has_asked or principal.role is Role.ADMIN,
        open_steps=steps,
    )


async def is_blind(tx: Transaction, principal: Principal, request: Request, access: RequestAccess) -> bool:
    """Whether somebody has a vote to give and has not given it: till then they are told how many did, and no more."""
    is_vote = request.routing is not None and request.routing.terms.is_vote and request.settled_at is None
    if not is_vote or not access.may_answer:
        return False
    return not any(vote.person_id == principal.id for vote in await tx.routes.votes(request.id))


async def open_steps_of(
    tx: Transaction, terms: Terms, thread: Thread, request_id: str, person_ids: Collection[str]
) -> dict[str, frozenset[int]]:
    """By person, the places that a yes of theirs may fill now; none for who may not sign in any more."""
    candidates = await tx.routes.of_request(request_id)
    groups = await tx.groups.of_people(person_ids)
    users = [user for one in person_ids if (user := await tx.users.get(one)) is not None]
    return {user.id: _steps_of_user(terms, candidates, user, thread, groups) for user in users}


async def claimer_of(tx: Transaction, thread: Thread, request: Request, now: datetime) -> str | None:
    """Who has it now, by their claim. That of somebody who may not answer it any more counts for nobody."""
    by = request.routing.claimer_at(now) if request.routing else None
    if request.routing is None or by is None:
        return None
    return by if (await open_steps_of(tx, request.routing.terms, thread, request.id, [by])).get(by) else None


def _steps_of_user(
    terms: Terms,
    candidates: Sequence[Candidate],
    user: User,
    thread: Thread,
    groups: Mapping[str, frozenset[str]],
) -> frozenset[int]:
    if not user.is_allowed:
        return frozenset()
    return _open_steps(terms, candidates, principal_of(user), thread, groups.get(user.id, frozenset()))


def _open_steps(
    terms: Terms, candidates: Sequence[Candidate], person: Principal, thread: Thread, groups: Collection[str]
) -> frozenset[int]:
    if person.id in terms.excluded:
        return frozenset()
    added = {one.who for one in candidates if one.is_added}
    return terms.steps_open_to(_candidacies(person, thread, groups), added)


def _candidacies(person: Principal, thread: Thread, groups: Collection[str]) -> list[str]:
    """The names under which somebody may be a candidate."""
    everybody = [EVERYBODY] if person.may_answer(thread) else []
    return [f"{PERSON}{person.id}", *(f"{GROUP}{name}" for name in groups), *everybody]


def candidacies_of(person_id: str, groups: Collection[str]) -> tuple[str, ...]:
    """The same, without what follows from conversations: for lists."""
    return (f"{PERSON}{person_id}", *(f"{GROUP}{name}" for name in sorted(groups)))


async def needs_of(tx: Transaction, request: Request) -> Needs | None:
    """What the request needs, as people read it; with whom levels and delegations brought."""
    if request.routing is None:
        return None
    terms = request.routing.terms
    added = [one.who for one in await tx.routes.of_request(request.id) if one.is_added]
    names = await names_of(tx, [*terms.candidates, *terms.only, *added])
    return Needs(terms.people, names, terms.separate, terms.code)


async def names_of(tx: Transaction, candidates: Sequence[str]) -> tuple[str, ...]:
    """Candidates as they are written in a rule."""
    ids = {one.removeprefix(PERSON) for one in candidates if one.startswith(PERSON)}
    names = await tx.users.names_of(ids) if ids else {}
    return tuple(
        dict.fromkeys(
            f"{PERSON}{names.get(one.removeprefix(PERSON), one.removeprefix(PERSON))}"
            if one.startswith(PERSON)
            else one
            for one in candidates
            if one != EVERYBODY
        )
    )
