"""Calls like this one that people decided before, and what a rule could say of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from interlock.domain.errors import Conflict, Forbidden
from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody
from interlock.domain.likeness import FEWEST_CALLS, Calls, Difference, DraftRule, differences, draft_rule, with_rule
from interlock.domain.policy_document import read
from interlock.domain.principal import Principal, Role
from interlock.domain.request import Answer, AnswerOrigin, Request, RequestStatus
from interlock.domain.risk import LOWEST, is_within
from interlock.domain.thread import Thread
from interlock.ports.filters import AlikeFilter
from interlock.ports.store import Transaction
from interlock.services.core import Core
from interlock.services.policies.deciding import facts_of, judge, wants_person
from interlock.services.policies.versions import admin_only, engine_in
from interlock.services.requests.pending import view_request
from interlock.services.threads.threads import visible

MOST_COUNTED = 500
"""However many calls are alike, no more of them are looked at."""
_MOST_DRAWN_FROM = 50
_WIDEST_RISK = "medium"
"""No rule is drafted for what is riskier."""


@dataclass(frozen=True, slots=True)
class ApprovedCall:
    request_id: str
    args: JsonObject
    """What ran: after an edit, the arguments of the edit."""
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Likeness:
    earlier: int = 0
    approved: int = 0
    """By people, as they stood or edited."""
    is_whole: bool = True
    """Whether no earlier ones were left out."""
    last: ApprovedCall | None = None
    differences: Sequence[Difference] = ()
    """From the last approved call."""
    may_be_ruled: bool = False
    """Whether a rule can be drafted for these calls, by who asks."""


@dataclass(frozen=True, slots=True)
class PolicyDraft:
    rule: DraftRule
    calls: int
    """How many approved calls it was made from."""
    text: str
    """The policy that counts, with the rule at its end."""
    active: int | None
    covers: bool
    """Whether it would have allowed the call that it was asked for."""


async def likeness(core: Core, principal: Principal, request_id: str) -> Likeness:
    """How often such a call was decided before. `NotFound` and `Forbidden` as for any look at the request."""
    _people_only(principal)
    request = (await view_request(core, principal, request_id)).request
    async with core.store.snapshot() as tx:
        # Who sees the request alone does not see what else was asked in its owner's conversations.
        visible(principal, await tx.threads.get(request.thread_id), "the earlier calls are not yours to see")
        decided = await _decided(tx, request)
        approved = _approved(decided)
        last = await _last_approved(tx, approved)
    plain = sum(map(_is_plain, approved))
    return Likeness(
        len(decided),
        len(approved),
        len(decided) < MOST_COUNTED,
        last,
        differences(last.args, request.body.args) if last and isinstance(request.body, ApprovalBody) else (),
        plain >= FEWEST_CALLS and _may_rule(core, principal, request),
    )


async def draft_policy(core: Core, principal: Principal, request_id: str) -> PolicyDraft:
    """The active policy with a rule for such calls; `Conflict` where none can be made of them. Nothing is written."""
    _people_only(principal)
    admin_only(principal)
    request = (await view_request(core, principal, request_id)).request
    engine = engine_in(core)
    if not _may_rule(core, principal, request):
        raise Conflict("no rule may allow such a call: it is too risky, or who asks wants a person")
    async with core.store.snapshot() as tx:
        thread = visible(principal, await tx.threads.get(request.thread_id), "the earlier calls are not yours to see")
        active, text = await _active_text(tx)
        calls = await _calls(tx, thread, request)
        facts = await facts_of(tx, thread, request)
    rule = draft_rule(calls, [one.name for one in read(text).rules])
    if rule is None:
        raise Conflict("a rule for these calls would allow more than people did: they have too little in common")
    decision = judge(engine, engine.name, read(rule.text), facts)
    covers = decision.rule is not None
    return PolicyDraft(rule, len(calls.args), with_rule(text, rule), active, covers)


def _people_only(principal: Principal) -> None:
    if principal.is_agent:
        raise Forbidden("an agent's key may not look at what people decided")


def _may_rule(core: Core, principal: Principal, request: Request) -> bool:
    is_open = request.status is RequestStatus.PENDING and not request.is_in_doubt
    is_ordinary = is_within(request.risk, _WIDEST_RISK) and request.routing is None and not wants_person(request)
    return is_open and is_ordinary and principal.role is Role.ADMIN and core.conditions is not None


async def _decided(tx: Transaction, request: Request) -> list[tuple[str, Answer | None]]:
    """The last ones first. Where nothing is known by which the tool would be known again, no call is like another."""
    if not isinstance(request.body, ApprovalBody) or request.definition is None:
        return []
    query = AlikeFilter(request.owner_id, request.agent, request.tool, request.definition, request.settled_at)
    found = await tx.requests.settled_alike(query, MOST_COUNTED)
    answers = await tx.answers.of_requests(found)
    return [(one, answers.get(one)) for one in found]


def _approved(decided: Sequence[tuple[str, Answer | None]]) -> list[Answer]:
    by_people = (one for _, one in decided if one is not None and one.origin is AnswerOrigin.PERSON)
    return [one for one in by_people if isinstance(one.value, ApprovalAnswer) and one.value.runs]


def _is_plain(answer: Answer) -> bool:
    return isinstance(answer.value, ApprovalAnswer) and answer.value.decision == "accept"


async def _last_approved(tx: Transaction, approved: Sequence[Answer]) -> ApprovedCall | None:
    if not approved:
        return None
    answer = approved[0]
    request = await tx.requests.get(answer.request_id)
    if request is None or not isinstance(request.body, ApprovalBody) or not isinstance(answer.value, ApprovalAnswer):
        return None
    edited = answer.value.args
    return ApprovedCall(request.id, request.body.args if edited is None else edited, answer.by_name, answer.at)


async def _active_text(tx: Transaction) -> tuple[int | None, str]:
    activation = await tx.policies.activation()
    if activation is None or activation.number is None:
        return None, ""
    version = await tx.policies.get(activation.number)
    assert version is not None
    return version.number, version.text


async def _calls(tx: Transaction, thread: Thread, request: Request) -> Calls:
    """What people approved as it stood: of an edited call it was the person who wrote the arguments."""
    plain = [one.request_id for one in _approved(await _decided(tx, request)) if _is_plain(one)]
    found = [await tx.requests.get(one) for one in plain[:_MOST_DRAWN_FROM]]
    bodies = [one.body for one in found if one is not None and isinstance(one.body, ApprovalBody)]
    owner = await tx.users.get(thread.owner_id)
    name = owner.username if owner else thread.owner_id
    is_low = all(body.risk_level == LOWEST for body in bodies)
    return Calls(request.tool, thread.agent, name, thread.is_outside, is_low, [body.args for body in bodies])
