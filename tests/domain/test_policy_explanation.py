"""Why a request was asked: what decided, and which facts the rules read."""

from datetime import UTC, datetime

import pytest

from interlock.domain.policy import Decision, Facts, Rule, Ruling
from interlock.domain.policy_explanation import LONGEST_VALUE, Cause, RuleFact, cause_of, fact, names_of

RULE = Rule("r", Ruling.ALLOW)
FACTS = Facts(
    tool="refund",
    args={
        "amount": 900.0,
        "note": "退款",
        "long": "x" * 2 * LONGEST_VALUE,
        "half": "a\ud800",
        "none": None,
        "nan": float("nan"),
    },
    at=datetime(2026, 1, 31, 9, 30, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("decision", "cause"),
    [
        (Decision(Ruling.ALLOW, RULE), Cause.RULE),
        (Decision(Ruling.ASK, RULE, errors=(("other", "why"),)), Cause.RULE),
        (Decision(Ruling.ASK, errors=(("other", "why"),)), Cause.NOT_EVALUATED),
        (Decision(Ruling.ASK), Cause.NO_RULE),
    ],
)
def test_a_decision_has_a_cause(decision: Decision, cause: Cause) -> None:
    assert cause_of(decision) is cause


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tool", '"refund"'),
        ("args.amount", "900.0"),
        ("args.note", '"退款"'),
        ("args.half", '"a?"'),
        ("args.none", "null"),
        ("args.nan", '"NaN"'),
        ("args.other", None),
        ("outside", "false"),
        ("at", '"2026-01-31T09:30:00+00:00"'),
    ],
)
def test_a_fact_is_shown_as_it_is_or_as_missing(name: str, value: str | None) -> None:
    assert fact(FACTS, name) == RuleFact(name, value)


def test_what_has_no_moment_has_none_to_show_and_what_is_long_is_cut_off() -> None:
    assert fact(Facts(), "at").value is None
    shown = fact(FACTS, "args.long").value
    assert shown is not None
    assert (len(shown), shown[-1]) == (LONGEST_VALUE + 1, "…")


def test_a_rule_reads_more_than_its_condition_says() -> None:
    assert names_of(Rule("r", Ruling.DENY), ("owner",)) == ("owner",)
    assert names_of(Rule("r", Ruling.ALLOW, tools=("a",)), ("tool", "args.x")) == ("tool", "risk", "args.x")
