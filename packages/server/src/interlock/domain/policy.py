"""A policy: rules that say which asks need no person. They are tried in their order, with two exceptions.

- A refusal goes before everything else, wherever it stands.
- A rule that could not be evaluated never leads to a permission: if it is a refusal, or stands before the rule that
  would permit, a person is asked. A missing argument, a wrong type and a loop without end are such cases.
- Nor to fewer people: if it says whose yes a call takes, and stands before the rule that would decide, it is put to
  them. An argument that is a text in place of a number would otherwise need nobody's yes but its asker's.

Where no rule applies, a person is asked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum

from interlock.domain.canonical import digest
from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import RequestKind
from interlock.domain.risk import is_within
from interlock.domain.terms import Terms


class Ruling(StrEnum):
    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a rule may look at: no more than this, so that a recorded request can be put to other rules later."""

    tool: str = ""
    args: JsonObject = field(default_factory=JsonObject)
    agent: str = ""
    risk: str = "medium"
    kind: str = RequestKind.APPROVAL.value
    owner: str = ""
    owner_groups: Sequence[str] | None = ()
    """Those that the owner was in when it was asked. None: it was not kept, and a condition cannot read it."""
    outside: bool = False
    """Whether the agent runs elsewhere: then tool and arguments are what it says of them."""
    face: str = ""
    at: datetime | None = None


FACTS = tuple(one.name for one in fields(Facts))


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    then: Ruling
    when: str = ""
    """A condition over the facts; without one the rule applies to all of its tools."""
    tools: tuple[str, ...] = ()
    """The tools that it is about; none: all."""
    max_risk: str = "medium"
    """A permission does not reach beyond this risk."""
    reason: str = ""
    """For a refusal: what the agent is told."""
    terms: Terms | None = None
    """For an ask: whose yes it takes. None: whoever may answer on the conversation."""
    line: int | None = None
    """Where it stands in what its author wrote."""

    def is_about(self, facts: Facts) -> bool:
        if self.tools and facts.tool not in self.tools:
            return False
        if facts.kind != RequestKind.APPROVAL:
            return self.then is Ruling.ASK
        return self.then is not Ruling.ALLOW or is_within(facts.risk, self.max_risk)


class ConditionError(Exception):
    """A condition that could not be evaluated; the text says why, and holds nothing of the facts."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rules say of one ask, and how they came to it."""

    ruling: Ruling
    rule: Rule | None = None
    """The rule that decided; None: none did, so a person is asked."""
    matches: tuple[str, ...] = ()
    """All rules that apply, by name."""
    errors: tuple[tuple[str, str], ...] = ()
    """The rules that could not be evaluated, and why."""


def decide(rules: Sequence[Rule], facts: Facts, holds: Callable[[Rule], bool]) -> Decision:
    """`holds` evaluates a rule's condition; it raises `ConditionError` where that cannot be done."""
    matches: list[Rule] = []
    doubtful: list[Rule] = []
    errors: list[tuple[str, str]] = []
    for rule in rules:
        if not rule.is_about(facts):
            continue
        try:
            if holds(rule):
                matches.append(rule)
        except ConditionError as error:
            errors.append((rule.name, str(error)))
            if rule.then is Ruling.DENY or not any(one.then is not Ruling.DENY for one in matches):
                doubtful.append(rule)
    refusal = next((rule for rule in matches if rule.then is Ruling.DENY), None)
    decider = refusal or next(iter(matches), None)
    ruling = decider.then if decider else Ruling.ASK
    if ruling is Ruling.ALLOW and doubtful:
        ruling, decider = Ruling.ASK, None
    if ruling is Ruling.ASK:
        decider = next((rule for rule in doubtful if rule.terms is not None), decider)
    return Decision(ruling, decider, tuple(rule.name for rule in matches), tuple(errors))


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """A policy as it was saved. It never changes: another text is another version."""

    number: int
    text: str
    by_id: str
    by_name: str
    note: str
    engine: str
    """What compiled its conditions, with its version."""
    created_at: datetime

    @property
    def digest(self) -> str:
        return digest(self.text)


@dataclass(frozen=True, slots=True)
class Activation:
    """From when on a version counts; steps are numbered, so that of two at once one is refused."""

    step: int
    number: int | None
    """None: no version counts from then on."""
    by_name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Word:
    """What one version says of an ask."""

    ruling: Ruling
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class ShadowWord:
    """What a version in shadow would have said of an ask, beside what counted then. It decides nothing."""

    version: int
    request_id: str
    thread_id: str
    word: Word
    failed: bool
    """Whether rules could not be evaluated: then it is at least an ask."""
    active_version: int | None
    active: Word
    at: datetime


@dataclass(frozen=True, slots=True)
class ShadowCell:
    active: Ruling
    shadow: Ruling
    count: int
    failed: int
    """Of how many rules could not be evaluated."""
    since: datetime
    """When the first of them was asked."""

    @property
    def differs(self) -> bool:
        return self.active is not self.shadow


@dataclass(frozen=True, slots=True)
class ShadowSample:
    request_id: str
    tool: str
    agent: str
    at: datetime
    active_version: int | None
    active_rule: str | None
    rule: str | None
    failed: bool
