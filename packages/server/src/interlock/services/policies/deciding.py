"""What the active policy says of an ask, in the transaction that writes the ask."""

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from interlock.domain.kinds import ApprovalBody
from interlock.domain.policy import ConditionError, Decision, Facts, PolicyVersion, Rule, Ruling, decide
from interlock.domain.policy_document import PolicyDocument, read
from interlock.domain.request import Request
from interlock.domain.thread import Thread
from interlock.ports.policies import ConditionEngine
from interlock.ports.store import Transaction

if TYPE_CHECKING:
    from interlock.services.core import Unit

_MOST_KEPT = 16


class PolicyCache:
    """Versions that this process has read before: they never change."""

    def __init__(self) -> None:
        self._documents: OrderedDict[int, tuple[str, PolicyDocument]] = OrderedDict()

    async def get(self, tx: Transaction, number: int) -> tuple[str, PolicyDocument]:
        """The engine that it was written for, and its rules."""
        if number not in self._documents:
            version = await tx.policies.get(number)
            assert version is not None
            self._documents[number] = (engine_of(version), read(version.text))
            while len(self._documents) > _MOST_KEPT:
                self._documents.popitem(last=False)
        self._documents.move_to_end(number)
        return self._documents[number]


def engine_of(version: PolicyVersion) -> str:
    return version.engine.partition(" ")[0]


async def facts_of(tx: Transaction, thread: Thread, request: Request) -> Facts:
    owner = await tx.users.get(thread.owner_id)
    return Facts(
        tool=request.tool,
        args=request.body.args if isinstance(request.body, ApprovalBody) else {},
        agent=thread.agent,
        risk=request.risk,
        kind=request.kind.value,
        owner=owner.username if owner else thread.owner_id,
        owner_groups=request.owner_groups,
        outside=thread.is_outside,
        face=thread.face,
        at=request.created_at,
    )


def judge(engine: ConditionEngine | None, written_for: str, document: PolicyDocument, facts: Facts) -> Decision:
    """What the rules say. Without the engine that they were written for, none of them can be evaluated."""
    if engine is None or engine.name != written_for:
        return decide(document.rules, facts, _not_evaluated)
    reader = engine.read(facts)
    decision = decide(document.rules, facts, lambda rule: not rule.when.strip() or reader.holds(rule.when))
    if decision.ruling is Ruling.ALLOW and not document.is_right:
        return replace(decision, ruling=Ruling.ASK, rule=None, errors=(*decision.errors, _NOT_READ))
    return decision


async def decision_of(
    engine: ConditionEngine | None,
    policies: PolicyCache,
    tx: Transaction,
    number: int | None,
    request: Request,
    facts: Facts,
) -> Decision:
    """What a version comes to for a request; without one a person is asked."""
    if number is None:
        return Decision(Ruling.ASK)
    return for_request(request, judge(engine, *await policies.get(tx, number), facts))


def for_request(request: Request, decision: Decision) -> Decision:
    if decision.ruling is Ruling.ALLOW and wants_person(request):
        return replace(decision, ruling=Ruling.ASK, rule=None)
    return decision


_NOT_READ = ("", "the policy has something that this version of the server cannot read")
"""It may stand in a rule that refuses: a newer server saved it, or an older one that took more."""


@dataclass(frozen=True, slots=True)
class PolicyRuling:
    """What the active policy says of one ask."""

    version: int
    decision: Decision


async def ruling_of(work: "Unit", thread: Thread, request: Request) -> PolicyRuling | None:
    """None where no policy counts, and of the server's own questions."""
    if request.is_in_doubt:
        return None
    activation = await work.tx.policies.activation()
    if activation is None or activation.number is None:
        return None
    facts = await facts_of(work.tx, thread, request)
    written_for, document = await work.core.policy_cache.get(work.tx, activation.number)
    return PolicyRuling(activation.number, judge(work.core.conditions, written_for, document, facts))


def wants_person(request: Request) -> bool:
    """Whether no rule may say yes: who asks wants a person, or the graph takes no plain yes.

    What another version's rule wanted of people says nothing of that.
    """
    body, routing = request.body, request.routing
    if routing is not None and (routing.rule is None or routing.terms.is_wanted):
        return True
    return isinstance(body, ApprovalBody) and not (body.allow_remember and body.takes("accept"))


def _not_evaluated(rule: Rule) -> bool:
    raise ConditionError("the engine that it was written for is not installed")
