"""Weekly figures: which week, whose ask, whose answer."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from interlock.domain.figures import SettledAsk, SettledVote, figures, week_of, weeks_until, with_votes
from interlock.domain.request import AnswerOrigin

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)
WEEKS = weeks_until(MONDAY + timedelta(days=3), 2)
PERSON = AnswerOrigin.PERSON


def row(*, days: float = 0, owner: str = "ann", length: int = 100, **answer: Any) -> SettledAsk:
    return SettledAsk(owner, MONDAY + timedelta(days=days), length, **answer)


def test_a_week_begins_on_monday_in_utc() -> None:
    assert [date(2026, 11, 9), date(2026, 11, 16)] == WEEKS
    assert week_of(MONDAY - timedelta(microseconds=1)) == date(2026, 11, 9)
    in_shanghai = datetime(2026, 11, 16, 7, tzinfo=timezone(timedelta(hours=8)))
    assert week_of(in_shanghai) == date(2026, 11, 9)


def test_asks_go_to_the_owner_and_answers_to_who_gave_them() -> None:
    rows = [
        row(by_id="bob", origin=PERSON, runs=True, dwell_ms=1_000),
        row(by_id="ann", origin=PERSON, runs=False, dwell_ms=3_000),
        row(by_id="ann", origin=PERSON, dwell_ms=None),
        row(by_id="ann", origin=AnswerOrigin.GRANT, runs=True),
        row(by_id="system", origin=AnswerOrigin.POLICY, runs=False),
        row(),
        row(days=-1, owner="bob", by_id="ann", origin=PERSON, runs=True, dwell_ms=9_000),
        row(days=-20, by_id="ann", origin=PERSON, runs=True, dwell_ms=1),
    ]
    before, now = figures("ann", WEEKS, rows).weeks
    assert (now.asks, now.by_grant, now.by_rule, now.unanswered) == (6, 1, 1, 1)
    assert (now.answers, now.approvals, now.yes, now.dwell_ms) == (2, 1, 0, 3_000)
    assert (before.asks, before.answers, before.yes, before.dwell_ms) == (0, 1, 1, 9_000)
    _, of_bob = figures("bob", WEEKS, rows).weeks
    assert (of_bob.asks, of_bob.answers, of_bob.yes) == (0, 1, 1)


def test_what_a_rule_in_shadow_would_have_answered_is_counted_where_a_person_did() -> None:
    rows = [
        row(by_id="bob", origin=PERSON, runs=True, has_rule_in_shadow=True),
        row(by_id="bob", origin=PERSON, runs=True),
        row(by_id="system", origin=AnswerOrigin.POLICY, runs=True, has_rule_in_shadow=True),
        row(has_rule_in_shadow=True),
        row(owner="bob", by_id="ann", origin=PERSON, has_rule_in_shadow=True),
    ]
    assert [week.by_shadow for week in figures("ann", WEEKS, rows).weeks] == [0, 1]


def test_a_vote_is_contradicted_by_the_end_alone() -> None:
    votes = [
        SettledVote("ann", MONDAY, is_yes=True, runs=False),
        SettledVote("ann", MONDAY, is_yes=True, runs=True),
        SettledVote("ann", MONDAY - timedelta(days=1), is_yes=False, runs=True),
        SettledVote("bob", MONDAY, is_yes=True, runs=False),
    ]
    found = with_votes(figures("ann", WEEKS, []), votes)
    assert [week.votes_contradicted for week in found.weeks] == [1, 1]


@pytest.mark.parametrize(("length", "place"), [(1, 0), (500, 0), (501, 1), (10_000, 4), (10_001, 5), (10**6, 5)])
def test_reading_time_is_told_by_length(length: int, place: int) -> None:
    rows = [row(length=length, by_id="ann", origin=PERSON, dwell_ms=dwell) for dwell in (1_000, 2_000, 90_000, None)]
    reading = figures("ann", WEEKS, rows).reading
    assert [one.answers for one in reading] == [3 if at == place else 0 for at in range(6)]
    assert reading[place].dwell_ms == 2_000
