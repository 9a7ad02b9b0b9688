"""Why a request was put to a person, or why it was not: what a policy said of it, and by what."""

from dataclasses import dataclass
from enum import StrEnum

from interlock.domain.canonical import json_text
from interlock.domain.policy import Decision, Facts, Rule, Ruling

LONGEST_VALUE = 500


class Cause(StrEnum):
    RULE = "rule"
    NO_RULE = "no_rule"
    """None applies."""
    NOT_EVALUATED = "not_evaluated"
    """A rule that could not be evaluated may have decided otherwise: nothing is allowed."""
    WANTS_PERSON = "wants_person"
    """Whoever asked wants a person, or the graph takes no plain yes."""
    NO_POLICY = "no_policy"
    """No version counted."""
    NOT_JUDGED = "not_judged"
    """Policies say nothing of such requests."""


@dataclass(frozen=True, slots=True)
class RuleFact:
    """A fact that a rule reads."""

    name: str
    value: str | None
    """As JSON, cut off where it is long; None: there is no such fact."""


@dataclass(frozen=True, slots=True)
class Explanation:
    cause: Cause
    decision: Decision
    version: int | None = None
    """None: no version counted, or it is about a text."""
    is_recorded: bool = False
    """Whether version and rule were written with the answer; else both are found by when it was asked."""
    facts: tuple[RuleFact, ...] = ()
    is_whole: bool = True
    """Whether other rules than the one that decided are named, and conditions shown: that is for admins."""


def cause_of(decision: Decision) -> Cause:
    if decision.rule is not None:
        return Cause.RULE
    return Cause.NOT_EVALUATED if decision.errors else Cause.NO_RULE


def names_of(rule: Rule, in_condition: tuple[str, ...]) -> tuple[str, ...]:
    """The facts that a rule reads beside its condition, and in it."""
    beside = (*(("tool",) if rule.tools else ()), *(("risk",) if rule.then is Ruling.ALLOW else ()))
    return tuple(dict.fromkeys((*beside, *in_condition)))


def fact(facts: Facts, name: str) -> RuleFact:
    first, _, argument = name.partition(".")
    if argument:
        return RuleFact(name, _text(facts.args[argument]) if argument in facts.args else None)
    value = facts.at.isoformat() if first == "at" and facts.at else getattr(facts, first)
    return RuleFact(name, None if value is None else _text(value))


def _text(value: object) -> str:
    # Half of a character has no spelling that every reader takes.
    text = json_text(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"
