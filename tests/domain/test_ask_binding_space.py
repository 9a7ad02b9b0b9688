"""Whose calls an approval may be about: graphs are known by their namespaces."""

import pytest

from interlock.domain.ask_binding import is_about

FIRST, SECOND, INSIDE = "tools:t1", "tools:t1|7", "tools:t1|7|tools:t2"


@pytest.mark.parametrize(("asked_in", "run_in"), [(FIRST, FIRST), (SECOND, INSIDE), (INSIDE, SECOND), ("", INSIDE)])
def test_a_graph_speaks_for_those_around_it_and_inside_it(asked_in: str, run_in: str) -> None:
    assert is_about(asked_in, run_in)


def test_of_an_earlier_version_nothing_is_known() -> None:
    assert is_about(None, INSIDE)


@pytest.mark.parametrize("beside", [SECOND, INSIDE, "tools:t1|8", "tools:t10", "left:t3|tools:t4"])
def test_a_graph_does_not_speak_for_one_beside_it_that_the_same_task_called(beside: str) -> None:
    assert not is_about(FIRST, beside)
    assert not is_about(beside, FIRST)
