"""Risk: who asks may raise it, and never lower it below what the operator said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.risk import RISK_LEVELS, is_within, risk_of

levels = st.sampled_from(RISK_LEVELS)


@given(st.none() | levels, st.none() | levels, st.booleans())
def test_the_level_is_known_and_below_neither_word(said: str | None, configured: str | None, is_outside: bool) -> None:
    risk = risk_of(said, configured, is_outside=is_outside)
    assert is_within(configured or "low", risk)
    assert is_within(said or "low", risk)
    assert not is_outside or risk != "low"


@given(levels, levels)
def test_one_of_two_levels_is_within_the_other(risk: str, ceiling: str) -> None:
    assert is_within(risk, ceiling) or is_within(ceiling, risk)
    assert (is_within(risk, ceiling) and is_within(ceiling, risk)) == (risk == ceiling)


@pytest.mark.parametrize("ceiling", RISK_LEVELS)
def test_a_level_that_is_not_known_is_beyond_all(ceiling: str) -> None:
    assert not is_within("", ceiling)
    assert not is_within("harmless", ceiling)


@pytest.mark.parametrize(
    ("said", "configured", "is_outside", "risk"),
    [
        (None, None, False, "medium"),
        ("low", None, False, "low"),
        ("low", None, True, "medium"),
        (None, "low", False, "low"),
        (None, "low", True, "medium"),
        ("low", "high", False, "high"),
        ("critical", "low", False, "critical"),
    ],
)
def test_what_nobody_rates_is_medium(said: str | None, configured: str | None, is_outside: bool, risk: str) -> None:
    assert risk_of(said, configured, is_outside=is_outside) == risk
