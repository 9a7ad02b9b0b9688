"""Terms: how votes are counted, what an asker may raise, and what is wrong with what a rule says about people."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from interlock.domain.kinds import RequestKind
from interlock.domain.policy_document import read
from interlock.domain.terms import (
    EVERYBODY,
    AtEnd,
    Level,
    Outcome,
    Step,
    Terms,
    Vote,
    VoteCount,
    count_votes,
    places_filled,
    wanted_terms,
)

pytestmark = pytest.mark.promise("P18")

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)
PEOPLE = [f"u{number}" for number in range(5)]
GROUPS = ["group:a", "group:b", "group:c"]
candidates = st.lists(st.sampled_from(GROUPS), min_size=1, max_size=3, unique=True).map(tuple)
steps = st.lists(st.builds(Step, candidates, st.integers(1, 2)), min_size=1, max_size=3).map(tuple)
sets_of_steps = st.lists(st.frozensets(st.integers(0, 2)), max_size=5)


def most_places(steps: Sequence[Step], voters: Sequence[frozenset[int]]) -> int:
    """The same by trying everything: each order of the voters, each taking any place that is left."""

    def seat(left: tuple[int, ...], rest: Sequence[frozenset[int]]) -> int:
        if not rest:
            return 0
        best = seat(left, rest[1:])
        for step in rest[0]:
            if step < len(left) and left[step]:
                taken = tuple(count - (number == step) for number, count in enumerate(left))
                best = max(best, 1 + seat(taken, rest[1:]))
        return best

    return seat(tuple(step.people for step in steps), voters)


@given(steps, sets_of_steps)
def test_as_many_places_are_filled_as_can_be(found: tuple[Step, ...], voters: list[frozenset[int]]) -> None:
    assert places_filled(found, voters) == most_places(found, voters)


def test_somebody_in_two_groups_leaves_the_place_that_only_another_can_fill() -> None:
    both, only = frozenset({0, 1}), frozenset({0})
    for order in permutations([both, only]):
        assert places_filled((Step(), Step()), order) == 2


def greedily(steps: Sequence[Step], voters: Sequence[frozenset[int]]) -> int:
    """Each on the first place that is free, as they come: what is easily written, and wrong."""
    left = [step.people for step in steps]
    for voter in voters:
        place = next((one for one in sorted(voter) if one < len(left) and left[one]), None)
        if place is not None:
            left[place] -= 1
    return sum(step.people for step in steps) - sum(left)


def test_the_model_tells_what_is_greedy_from_what_is_right() -> None:
    def differs(case: tuple[tuple[Step, ...], list[frozenset[int]]]) -> bool:
        return greedily(*case) != most_places(*case)

    found, voters = find(st.tuples(steps, sets_of_steps), differs)
    assert places_filled(found, voters) == most_places(found, voters) > greedily(found, voters)


def vote(person: str, *, is_yes: bool = True) -> Vote:
    return Vote("perm_1", person, person, is_yes, AT, "web")


cast = st.lists(st.tuples(st.sampled_from(PEOPLE), st.booleans()), max_size=8)
standing = st.dictionaries(st.sampled_from(PEOPLE), st.frozensets(st.integers(0, 2)))


@given(steps, st.integers(1, 3), cast, standing)
def test_votes_are_counted_as_a_plain_model_counts_them(
    found: tuple[Step, ...], refusals: int, given_votes: list[tuple[str, bool]], standing: dict[str, frozenset[int]]
) -> None:
    standing = {name: frozenset(one for one in open_to if one < len(found)) for name, open_to in standing.items()}
    last = dict(given_votes)
    count = count_votes(
        Terms(found, refusals=refusals), [vote(name, is_yes=yes) for name, yes in last.items()], standing
    )
    eligible = {name: yes for name, yes in last.items() if standing.get(name)}
    yes = most_places(found, [standing[name] for name, said in eligible.items() if said])
    no = sum(not said for said in eligible.values())
    needed = sum(step.people for step in found)
    expected = Outcome.REFUSED if no >= refusals else Outcome.ACCEPTED if yes == needed else Outcome.OPEN
    assert count == VoteCount(yes, needed, no, expected)
    if count.outcome is Outcome.ACCEPTED:
        assert len([name for name, said in eligible.items() if said]) >= needed


@given(steps, cast, standing)
def test_the_order_of_votes_does_not_matter(
    found: tuple[Step, ...], given_votes: list[tuple[str, bool]], standing: dict[str, frozenset[int]]
) -> None:
    votes = [vote(name, is_yes=yes) for name, yes in dict(given_votes).items()]
    terms = Terms(found)
    assert count_votes(terms, votes, standing) == count_votes(terms, votes[::-1], standing)


names = st.sets(st.sampled_from([*GROUPS, "person:u0", "person:u1"]))
everybody = st.just((EVERYBODY,))
any_steps = st.lists(st.builds(Step, st.one_of(candidates, everybody), st.integers(1, 2)), min_size=1, max_size=3)


@given(any_steps.map(tuple), st.integers(1, 10), st.one_of(candidates, everybody), st.booleans(), names, st.booleans())
def test_an_asker_raises_and_never_lowers(
    found: tuple[Step, ...],
    people: int,
    wanted: tuple[str, ...],
    separate: bool,
    somebody: set[str],
    answers_there: bool,
) -> None:
    """Whoever says yes for the asker's sake could have said it for the rule's, and as many more have to."""
    terms = Terms(found, separate=True, code=True, refusals=2, excluded=("u9",))
    raised = terms.raised(wanted_terms(people, wanted, separate=separate))
    assert raised.people == max(people, terms.people)
    assert (raised.separate, raised.code, raised.refusals, raised.excluded) == (True, True, 2, ("u9",))
    under = {*somebody, *((EVERYBODY,) if answers_there else ())}
    before, now = terms.steps_open_to(under, ()), raised.steps_open_to(under, ())
    assert {one for one in now if one < len(found)} <= before
    assert not now or before
    assert [step.candidates for step in raised.steps[: len(found)]] == [step.candidates for step in found]


def test_an_asker_names_who_is_asked_where_no_rule_does() -> None:
    assert wanted_terms(2, ("group:a",), separate=None) == Terms(
        (Step(("group:a",), 2),), separate=True, is_wanted=True
    )
    assert not wanted_terms(2, (), separate=False).separate


@pytest.mark.promise("P19")
def test_where_a_rule_names_nobody_an_asker_names_some_of_those_who_answer_there() -> None:
    raised = Terms((Step(people=2),)).raised(wanted_terms(1, ("group:a",), separate=None))
    assert raised.steps_open_to({"group:a"}, ()) == frozenset()
    assert raised.steps_open_to({EVERYBODY}, ()) == frozenset()
    assert raised.steps_open_to({"group:a", EVERYBODY}, ()) == {0}


@pytest.mark.promise("P19")
def test_who_is_passed_a_place_has_that_place_and_no_other() -> None:
    terms = Terms((Step(("group:a",)), Step(("group:b",))), only=("group:c",))
    passed = terms.passed_on("u1", ["person:u2"], {0})
    assert passed.steps_open_to({"person:u2"}, ()) == {0}
    assert passed.excluded == ("u1",)
    assert passed.people == terms.people


def test_who_a_level_added_may_fill_any_place() -> None:
    terms = Terms((Step(("group:a",)), Step(("group:b",))))
    assert terms.steps_open_to({"group:b"}, {"group:c"}) == {1}
    assert terms.steps_open_to({"group:c"}, {"group:c"}) == {0, 1}
    assert terms.steps_open_to({"group:c"}, set()) == frozenset()


def test_only_an_approval_is_voted_on() -> None:
    terms = Terms((Step(("group:a",), 2), Step(("group:b",))), separate=True, code=True, refusals=2)
    assert terms.of_kind(RequestKind.APPROVAL) is terms
    assert terms.of_kind(RequestKind.DECISION) == Terms((Step(("group:a", "group:b")),), separate=True)


@given(
    st.builds(
        Terms,
        steps,
        st.booleans(),
        st.booleans(),
        st.integers(1, 3),
        st.lists(st.builds(Level, candidates, st.integers(1, 9)), max_size=2).map(tuple),
        st.sampled_from(AtEnd),
        st.one_of(st.none(), st.integers(1, 9)),
        st.lists(st.sampled_from(PEOPLE)).map(tuple),
        st.lists(st.sampled_from(GROUPS)).map(tuple),
        st.booleans(),
    )
)
def test_terms_come_back_from_the_store_as_they_were(terms: Terms) -> None:
    assert Terms.from_json(terms.to_json()) == terms


def rule(**fields: Any) -> str:
    lines = "".join(f"{name} = {value}\n" for name, value in fields.items())
    return f'[[rule]]\nname = "r"\nthen = "ask"\n{lines}'


def test_a_rule_says_who_and_how_many() -> None:
    text = rule(people=2, **{"from": '["group:payments", "person:ann"]'}, at_end='"refuse"', code="true")
    text += 'levels = [{from = ["group:leads"], after = 900}]\ndeadline = 3600\n'
    document = read(text)
    assert document.problems == ()
    step = Step(("group:payments", "person:ann"), 2)
    expected = Terms((step,), True, True, 1, (Level(("group:leads",), 900),), AtEnd.REFUSE, 3600)
    assert document.rules[0].terms == expected


def test_a_rule_that_says_nothing_about_people_has_no_terms() -> None:
    assert read(rule()).rules[0].terms is None
    assert read(rule(separate="true")).rules[0].terms == Terms((Step((EVERYBODY,)),), separate=True)


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"people": 0}, "people is a whole number"),
        ({"people": "true"}, "people is a whole number"),
        ({"people": '"2"'}, "people is a whole number"),
        ({"people": 11}, "people is a whole number"),
        ({"from": "[]"}, "from is a list"),
        ({"from": '["payments"]'}, "from is a list"),
        ({"from": '["group:"]'}, "from is a list"),
        ({"from": '["person:ann"]', "people": 2}, "fewer people are named"),
        ({"separate": '"false"'}, "separate is true or false"),
        ({"refusals": 2}, "more than one person"),
        ({"steps": "[]"}, "steps is a list"),
        ({"steps": '[{from = ["group:a"]}]', "people": 2}, "each step has its own"),
        ({"steps": '[{from = ["group:a"], who = 1}]'}, "steps.who is not known"),
        ({"steps": '[{from = ["group:a"], people = 10}, {from = ["group:b"]}]'}, "10 people at most"),
        ({"levels": '[{from = ["group:a"]}]'}, "levels.after is a whole number"),
        ({"from": '["group:a"]', "levels": '[{from = ["group:a"], after = 9}]'}, "an earlier one"),
        ({"levels": '[{from = ["group:a"], after = 60}]', "deadline": 60}, "never comes"),
        ({"at_end": '"refuse"'}, "there are no levels"),
        ({"at_end": '"allow"'}, "at_end is one of"),
        ({"deadline": 0}, "deadline is a whole number"),
    ],
)
def test_what_is_wrong_with_terms_is_named(fields: dict[str, Any], part: str) -> None:
    document = read(rule(**fields))
    assert not document.is_right
    assert any(part in problem.message for problem in document.problems), document.problems


@pytest.mark.parametrize("then", ["allow", "deny"])
def test_only_an_ask_has_terms(then: str) -> None:
    text = f'[[rule]]\nname = "r"\nthen = "{then}"\ntools = ["t"]\npeople = 2\n'
    assert any("people" in problem.message for problem in read(text).problems)
