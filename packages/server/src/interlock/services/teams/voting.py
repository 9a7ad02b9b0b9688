"""Answers to requests with terms: whose counts, and when enough have said yes.

All of it happens in the transaction of the answer, under the thread's lock: of any number of people who say yes at
once, each sees those who came before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from interlock import failpoints
from interlock.domain import showing
from interlock.domain.errors import FieldError, Forbidden, InvalidAnswer, NotEligible
from interlock.domain.event import RequestVoted
from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import ApprovalAnswer
from interlock.domain.moment import to_iso
from interlock.domain.principal import SYSTEM
from interlock.domain.request import Request, RequestStatus
from interlock.domain.terms import Outcome, Routing, Vote, VoteCount, count_votes
from interlock.domain.thread import Thread
from interlock.domain.webhook import WebhookEvent
from interlock.ports.store import Transaction
from interlock.services.core import Unit
from interlock.services.requests.settling import Settlement
from interlock.services.teams.eligibility import RequestAccess, access_to, needs_of, open_steps_of
from interlock.services.webhooks.webhooks import enqueue_deliveries


@dataclass(frozen=True, slots=True)
class Admission:
    """What an answer comes to: the end of the request, or a vote that was counted."""

    settlement: Settlement | None
    votes: VoteCount | None = None


async def admit(work: Unit, thread: Thread, request: Request, how: Settlement, code: str | None = None) -> Admission:
    """Whether the answer counts, and whether it is the last that is needed. `NotEligible` where its giver may not say
    yes; `code` is what they typed."""
    routing = request.routing
    if routing is None or request.status is not RequestStatus.PENDING:
        return Admission(how)
    access = await access_to(work.tx, how.by, thread, request)
    if how.value is None:
        _check_cancel(access, how, thread)
        return Admission(how)
    if isinstance(how.value, ApprovalAnswer) and how.value.decision == "reject":
        return await _admit_refusal(work, thread, request, how, access)
    if not access.may_answer:
        raise await not_eligible(work.tx, request)
    check_answer(routing, request, how, code)
    if not routing.terms.is_vote:
        return Admission(how)
    return await _admit_vote(work, thread, request, how, is_yes=True)


async def not_eligible(tx: Transaction, request: Request) -> NotEligible:
    needs = await needs_of(tx, request)
    assert needs is not None
    apart = "somebody who did not ask for it" if needs.separate else "who may answer here"
    return NotEligible(f"this needs {needs.people} of: {needs.who or apart}", needs)


def _check_cancel(access: RequestAccess, how: Settlement, thread: Thread) -> None:
    takes_back = how.by.is_agent and how.by.may_see(thread)
    if not (access.may_refuse or takes_back or how.by.id == SYSTEM.id):
        raise Forbidden("only who may answer it, who asked and admins may cancel this request")


async def _admit_refusal(
    work: Unit, thread: Thread, request: Request, how: Settlement, access: RequestAccess
) -> Admission:
    assert request.routing is not None
    if not access.may_refuse:
        raise await not_eligible(work.tx, request)
    if how.remember is not None and request.routing.terms.is_vote:
        raise _wrong("remember", "not_allowed", "what several people decide is not remembered")
    # Whoever asked, and an admin, could cancel it as well: their no is not one of several.
    if request.routing.terms.refusals == 1 or not access.may_answer:
        return Admission(how)
    return await _admit_vote(work, thread, request, how, is_yes=False)


def check_answer(routing: Routing, request: Request, how: Settlement, code: str | None) -> None:
    terms = routing.terms
    decision = how.value.decision if isinstance(how.value, ApprovalAnswer) else "accept"
    if terms.is_vote and decision != "accept":
        raise _wrong("decision", "not_allowed", f"what takes {terms.people} people is approved as it is, or refused")
    if how.remember is not None:
        raise _wrong("remember", "not_allowed", "who may answer this is named for each call: it is not remembered")
    if terms.code and code != showing.code_of(request):
        message = "type the four digits that stand on the request's page, behind the last line of what will run"
        raise _wrong("code", "wrong" if code else "missing", message)


async def _admit_vote(work: Unit, thread: Thread, request: Request, how: Settlement, *, is_yes: bool) -> Admission:
    before = await work.tx.routes.votes(request.id)
    vote = Vote(
        request.id, how.by.id, how.by.name, is_yes, work.now, how.source, how.reason, dict(how.metadata) or None
    )
    is_new = not any(one.person_id == vote.person_id and one.is_yes is is_yes for one in before)
    if is_new:
        await work.tx.routes.put_vote(vote)
    votes = await work.tx.routes.votes(request.id)
    count, counted = await _count(work.tx, thread, request, votes)
    if is_new:
        said: JsonObject = {"request_id": request.id, "yes": is_yes, "digest": request.digest, "source": how.source}
        said |= {"counted": count.yes, "needed": count.needed, "refusals": count.refusals}
        said |= {"metadata": dict(how.metadata)} if how.metadata else {}
        await work.tx.audit.append(request.thread_id, how.by, "request.voted", said, work.now)
    failpoints.hit("vote.committing")
    # A yes ends it with a yes, and a no with a no: levels, who is passed a place and who joins a group bring votes back
    # that were given before, and none of that is anybody's word.
    if count.outcome is (Outcome.ACCEPTED if is_yes else Outcome.REFUSED):
        return Admission(_last(how, count, counted), count)
    if is_new:
        await record_count(work, request, count)
    return Admission(None, count)


async def record_count(work: Unit, request: Request, count: VoteCount) -> None:
    event = RequestVoted(request.id, request.pause_id, count.yes, count.needed, count.refusals)
    await work.record(request.thread_id, event)
    votes: JsonObject = {"yes": count.yes, "needed": count.needed, "refusals": count.refusals}
    await enqueue_deliveries(work, WebhookEvent.VOTED, request, more={"votes": votes})


def _last(how: Settlement, count: VoteCount, counted: Sequence[Vote]) -> Settlement:
    """The end that all of them brought about: by all names, in their order."""
    decisive = [vote for vote in counted if vote.is_yes is (count.outcome is Outcome.ACCEPTED)]
    names = ", ".join(vote.name for vote in decisive)
    votes = [{"by": one.name, "yes": one.is_yes, "at": to_iso(one.at), "source": one.source} for one in counted]
    by = replace(how.by, name=names or how.by.name)
    return replace(how, by=by, metadata={**how.metadata, "votes": votes})


async def count(tx: Transaction, thread: Thread, request: Request) -> tuple[VoteCount, list[Vote]]:
    """The votes on a request, and those of them that count now."""
    return await _count(tx, thread, request, await tx.routes.votes(request.id))


async def _count(
    tx: Transaction, thread: Thread, request: Request, votes: Sequence[Vote]
) -> tuple[VoteCount, list[Vote]]:
    assert request.routing is not None
    terms = request.routing.terms
    steps = await open_steps_of(tx, terms, thread, request.id, [vote.person_id for vote in votes])
    return count_votes(terms, votes, steps), [vote for vote in votes if steps.get(vote.person_id)]


def _wrong(field: str, code: str, message: str) -> InvalidAnswer:
    return InvalidAnswer(message, [FieldError(field, code, message)])
