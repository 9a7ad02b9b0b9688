"""Why a request was put to a person, or was not: what a version said of it, and what its rules read."""

from dataclasses import replace

from interlock.domain.errors import Forbidden
from interlock.domain.kinds import ApprovalAnswer
from interlock.domain.policy import Decision, Facts, Rule, Ruling
from interlock.domain.policy_document import PolicyDocument
from interlock.domain.policy_explanation import Cause, Explanation, cause_of, fact, names_of
from interlock.domain.principal import Principal, Role
from interlock.domain.request import Answer, AnswerOrigin, Request
from interlock.ports.policies import ConditionEngine
from interlock.ports.store import Transaction
from interlock.services.core import Core
from interlock.services.policies.deciding import facts_of, judge, wants_person
from interlock.services.policies.versions import admin_only, check_right, engine_in
from interlock.services.requests import pending


def try_facts(core: Core, principal: Principal, text: str, facts: Facts) -> Explanation:
    """What a policy says of facts that somebody made up. Nothing is written."""
    admin_only(principal)
    document = check_right(core, text)
    engine = engine_in(core)
    decision = judge(engine, engine.name, document, facts)
    return _explained(engine, document, facts, Explanation(cause_of(decision), decision))


async def explain(core: Core, principal: Principal, request_id: str) -> Explanation:
    """For whoever may see the request; other rules than the one that decided, and conditions, are for admins."""
    if principal.is_agent:
        raise Forbidden("an agent's key may not look at what decides about it")
    view = await pending.view_request(core, principal, request_id)
    async with core.store.snapshot() as tx:
        return await _explain(core, tx, view.request, view.answer, is_whole=principal.role is Role.ADMIN)


async def _explain(
    core: Core, tx: Transaction, request: Request, answer: Answer | None, *, is_whole: bool
) -> Explanation:
    thread = await tx.threads.get(request.thread_id)
    if not request.is_judged or thread is None:
        return Explanation(Cause.NOT_JUDGED, Decision(Ruling.ASK), is_whole=is_whole)
    recorded = _recorded(answer)
    number = recorded[0] if recorded else await _counting_at(tx, request)
    if number is None:
        return Explanation(Cause.NO_POLICY, Decision(Ruling.ASK), is_whole=is_whole)
    facts = await facts_of(tx, thread, request)
    written_for, document = await core.policy_cache.get(tx, number)
    decision = judge(core.conditions, written_for, document, facts)
    cause = cause_of(decision)
    if recorded is not None:
        # As it was decided then; what is found now may be another where the engine is not there.
        unread = Rule(recorded[1], recorded[2])
        rule = next((one for one in document.rules if one.name == recorded[1]), unread)
        decision, cause = replace(decision, ruling=recorded[2], rule=rule), Cause.RULE
    elif decision.ruling is Ruling.ALLOW and wants_person(request):
        decision, cause = replace(decision, ruling=Ruling.ASK), Cause.WANTS_PERSON
    found = Explanation(
        cause, decision if is_whole else _alone(decision), number, recorded is not None, is_whole=is_whole
    )
    return _explained(core.conditions, document, facts, found)


def _recorded(answer: Answer | None) -> tuple[int, str, Ruling] | None:
    """The version, the rule and what it said, where that is what answered."""
    if answer is None or answer.origin is not AnswerOrigin.POLICY or not isinstance(answer.value, ApprovalAnswer):
        return None
    ruling = Ruling.ALLOW if answer.value.decision == "accept" else Ruling.DENY
    return answer.metadata["policy_version"], answer.metadata["rule"], ruling


async def _counting_at(tx: Transaction, request: Request) -> int | None:
    activation = await tx.policies.activation_at(request.created_at)
    return activation.number if activation else None


def _explained(
    engine: ConditionEngine | None, document: PolicyDocument, facts: Facts, found: Explanation
) -> Explanation:
    """With the facts that those rules read which applied, or could not be evaluated."""
    failed = [name for name, _ in found.decision.errors]
    rules = [one for one in document.rules if one.name in found.decision.matches or one.name in failed]
    if found.decision.rule is not None and found.decision.rule not in rules:
        rules.insert(0, found.decision.rule)
    names = dict.fromkeys(name for rule in rules for name in _reads(engine, rule))
    return replace(found, facts=tuple(fact(facts, name) for name in names))


def _reads(engine: ConditionEngine | None, rule: Rule) -> tuple[str, ...]:
    return names_of(rule, tuple(engine.reads(rule.when)) if engine else ())


def _alone(decision: Decision) -> Decision:
    """Without the names of other rules than the one that decided."""
    errors = tuple(("", reason) for _, reason in decision.errors)
    return replace(decision, matches=(decision.rule.name,) if decision.rule else (), errors=errors)
