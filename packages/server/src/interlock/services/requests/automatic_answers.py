"""Answers that need no person: by a rule, a grant, or values that were saved. Each says where it comes from."""

from dataclasses import replace

from interlock.domain.errors import InvalidAnswer, NotFound
from interlock.domain.grant import Grant, covers, deciding_grant
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody, EnvVarAnswer, EnvVarBody
from interlock.domain.policy import Ruling
from interlock.domain.principal import SYSTEM, Principal, principal_of
from interlock.domain.request import AnswerOrigin, Request, RequestStatus
from interlock.domain.saved_secret import answerable_from
from interlock.domain.thread import Thread
from interlock.services.core import Unit
from interlock.services.policies.deciding import PolicyRuling, wants_person
from interlock.services.policies.shadow import record_word
from interlock.services.requests.settling import Settlement
from interlock.texts import teams_text


async def automatic_answer(
    work: Unit, thread: Thread, request: Request, ruling: PolicyRuling | None
) -> Settlement | None:
    """How the request is settled at once, or None where a person has to be asked."""
    match request.body:
        case ApprovalBody():
            return await _answer_approval(work, thread, request, ruling)
        case EnvVarBody() as body:
            return await _answer_from_saved_values(work, thread, request, body)
        case _:
            return None


async def _answer_approval(
    work: Unit, thread: Thread, request: Request, ruling: PolicyRuling | None
) -> Settlement | None:
    """A refusal goes before a permission, and a rule before a grant: that one answers what people are asked.

    Where terms name whose yes it takes, a remembered one of somebody else is none; a remembered no is one all the same.
    """
    await record_word(work, thread, request)
    ruled = _answer_from_rule(work, request, ruling)
    if ruled is not None and not _is_yes(ruled):
        return ruled
    found = await _grant_and_giver(work, thread, request)
    if found is not None and found[0].allow and request.routing is not None:
        return None
    if ruled is not None and (found is None or found[0].allow):
        return ruled
    return None if found is None else await _answer_from_grant(work, request, *found)


def refusal_without_accounts(work: Unit, request: Request) -> Settlement | None:
    """Where nobody signs in, two people cannot be told from one: what needs both is refused, or not asked."""
    routing = request.routing
    if routing is None or not routing.terms.takes_another or work.core.settings.with_accounts:
        return None
    message = teams_text("no_people", work.core.settings.locale)
    by = replace(SYSTEM, name=f"policy: {routing.rule}" if routing.rule else SYSTEM.name)
    if not isinstance(request.body, ApprovalBody):
        return Settlement(RequestStatus.CANCELLED, by, "policy", reason=message)
    return Settlement(
        RequestStatus.ANSWERED,
        by,
        "policy",
        value=ApprovalAnswer("reject", message=message),
        origin=AnswerOrigin.POLICY,
        metadata={"policy_version": routing.policy_version, "rule": routing.rule},
    )


def _is_yes(settlement: Settlement) -> bool:
    return isinstance(settlement.value, ApprovalAnswer) and settlement.value.decision == "accept"


def _answer_from_rule(work: Unit, request: Request, ruling: PolicyRuling | None) -> Settlement | None:
    """What the active policy decides, where it does not leave the request to people."""
    rule = ruling.decision.rule if ruling else None
    if ruling is None or rule is None or ruling.decision.ruling is Ruling.ASK:
        return None
    is_allowed = ruling.decision.ruling is Ruling.ALLOW
    if is_allowed and wants_person(request):
        return None
    name = f"policy: {rule.name}"
    refused = ApprovalAnswer("reject", message=rule.reason or f"{name} does not allow this")
    value = ApprovalAnswer("accept") if is_allowed else refused
    if not _is_accepted(work, request, value):
        return None
    return Settlement(
        RequestStatus.ANSWERED,
        replace(SYSTEM, name=name),
        "policy",
        value=value,
        origin=AnswerOrigin.POLICY,
        metadata={"policy_version": ruling.version, "rule": rule.name},
    )


async def _grant_and_giver(work: Unit, thread: Thread, request: Request) -> tuple[Grant, Principal] | None:
    """The grant that decides, and who gave it."""
    live = await work.tx.grants.live(request.owner_id, request.agent)
    givers: dict[str, Principal] = {}
    for grant in live:
        if covers(grant, request) and (giver := await _giver(work, thread, grant)) is not None:
            givers[grant.id] = giver
    grant = deciding_grant([grant for grant in live if grant.id in givers], request)
    return None if grant is None else (grant, givers[grant.id])


async def _answer_from_grant(work: Unit, request: Request, grant: Grant, giver: Principal) -> Settlement | None:
    refused = ApprovalAnswer("reject", message=f"{grant.by_name} said not to do this, and to remember it")
    value = ApprovalAnswer("accept") if grant.allow else refused
    if not _is_accepted(work, request, value):
        return None
    await work.tx.grants.record_use(grant.id, work.now)
    return Settlement(
        RequestStatus.ANSWERED,
        giver,
        "grant",
        value=value,
        origin=AnswerOrigin.GRANT,
        metadata={"grant_id": grant.id, "granted_at": grant.created_at.isoformat(), "granted_by": grant.by_name},
    )


def _is_accepted(work: Unit, request: Request, value: ApprovalAnswer) -> bool:
    """Whether the graph would take such an answer; where it would not, a person is asked."""
    try:
        if request.checked_by_agent:
            work.core.agents.check(request, value)
    except InvalidAnswer:
        return False
    return True


async def _giver(work: Unit, thread: Thread, grant: Grant) -> Principal | None:
    """Who gave the grant, if they may still answer here: a reviewer's grants end with their role."""
    user = await work.tx.users.get(grant.by_id)
    if user is None or not user.is_allowed or not principal_of(user).may_answer(thread):
        return None
    return principal_of(user)


async def _answer_from_saved_values(
    work: Unit, thread: Thread, request: Request, body: EnvVarBody
) -> Settlement | None:
    # What somebody saved is no answer of those whom it is put to.
    if not body.allow_save or request.routing is not None:
        return None
    fields = body.fields
    field_names = [field.name for field in fields]
    found = await work.tx.saved_secrets.by_names(request.owner_id, request.agent, thread.asker_id, field_names)
    names = answerable_from(fields, found)
    if names is None:
        return None
    try:
        values = {name: await work.tx.saved_secrets.value(found[name].id) for name in names}
    except NotFound:
        # Deleted in this very moment.
        return None
    saved_by = sorted({found[name].by_name for name in names})
    return Settlement(
        RequestStatus.ANSWERED,
        SYSTEM,
        "saved",
        value=EnvVarAnswer(values),
        origin=AnswerOrigin.SAVED,
        metadata={"saved": names, "saved_by": saved_by},
    )
