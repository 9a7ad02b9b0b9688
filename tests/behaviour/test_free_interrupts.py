"""`if interrupt(value): ...`, the pattern of LangGraph's documents, at every face and on every database.

A text is true for such a graph, `"no"` too: what a person means by it must not depend on that.
"""

import json
from typing import Any

import pytest

from tests.behaviour.agui_person import AguiPerson
from tests.behaviour.confirm_person import ConfirmPerson
from tests.behaviour.driver import FACES, HitlPerson, Person, SessionsPerson, ThreadsPerson
from tests.support.puppet import Turn, calls, script
from tests.support.witness import Witness

ABOUT: dict[str, Any] = {
    "question": "Approve this transfer?",
    "amount": 12_000.5,
    "to": {"name": "Mallory \u202e", "accounts": ["DE00", None]},
}


def asking(name: str, value: Any = ABOUT) -> Turn:
    return calls(("transfer", {"name": name, "value": value}))


def told(got: Any) -> str:
    return f"the graph got {got!r}"


def test_all_of_the_value_is_shown(person: Person, conversation: str, fresh: str) -> None:
    paused = person.say(conversation, script(asking(fresh)))
    [asked] = paused.asked
    assert asked.kind == "clarification"
    assert asked.data["value"] == ABOUT
    assert asked.data["title"] == ABOUT["question"]
    assert asked.data["details"] == {"amount": ABOUT["amount"], "to": ABOUT["to"]}
    assert asked.data["free"] is True
    # For clients that show nothing but the question.
    assert all(word in asked.data["question"] for word in (ABOUT["question"], "12000.5", "Mallory", "DE00", "null"))
    assert person.pending(conversation) == (asked,)


NO: list[tuple[Any, Any]] = [
    (False, False),
    (None, None),
    (0, 0),
    ([], []),
    ({}, {}),
    ({"json": False}, False),
    ({"text": ""}, ""),
]


@pytest.mark.parametrize(("no", "got"), NO, ids=json.dumps)
def test_a_no_that_is_one_for_the_graph_is_passed_on_and_nothing_happens(
    person: Person, conversation: str, fresh: str, witness: Witness, no: Any, got: Any
) -> None:
    person.say(conversation, script(asking(fresh)))
    done = person.answer(conversation, no)
    assert (done.state, done.text) == ("done", told(got))
    assert witness.count(fresh) == 0


YES: list[tuple[Any, Any]] = [
    (True, True),
    (7, 7),
    ("go ahead", "go ahead"),
    ([1, {"a": None}], [1, {"a": None}]),
    ({"approved": False, "note": "x"}, {"approved": False, "note": "x"}),
    ({"text": "no"}, "no"),
    ({"json": {"text": "no"}}, {"text": "no"}),
    ({"json": "no"}, "no"),
    ({"a" * 32: "as an interrupt's id is spelled"}, {"a" * 32: "as an interrupt's id is spelled"}),
]


@pytest.mark.parametrize(("answer", "got"), YES, ids=lambda one: json.dumps(one)[:20])
def test_any_other_json_reaches_the_graph_as_it_is(
    person: Person, conversation: str, fresh: str, witness: Witness, answer: Any, got: Any
) -> None:
    person.say(conversation, script(asking(fresh)))
    done = person.answer(conversation, answer)
    assert (done.state, done.text) == ("done", told(got))
    assert witness.count(fresh) == 1


AS_SENT = "langgraph"
"""The face whose clients are programs that send what the graph's code compares: nothing is read into a text there."""
READ = pytest.mark.parametrize("persons", [face for face in FACES if face != AS_SENT], indirect=True)

SPELLED: dict[type, str] = {
    ThreadsPerson: '"answers": [%s]',
    HitlPerson: '"response": {"answer": %s}',
    ConfirmPerson: '"metadata": {"response": %s}',
    SessionsPerson: '"args": {"answer": %s}',
    AguiPerson: '"payload": {"answer": %s}',
}
"""How each face spells an answer."""

REFUSALS = [" No. ", "n\u200bo", "不，太多"]
"""Which texts read as one is the domain's."""


@READ
@pytest.mark.parametrize("text", REFUSALS)
def test_a_text_that_reads_as_a_refusal_is_refused_with_both_ways_and_stays_open(
    person: Person, conversation: str, fresh: str, witness: Witness, text: str
) -> None:
    asked = person.say(conversation, script(asking(fresh))).asked
    for _ in range(4):
        refused = person.answer(conversation, text)
        assert refused.state == "invalid"
        spelled = SPELLED[type(person)]
        assert spelled % "false" in refused.text
        assert (spelled % '{"text": "').rstrip("}]") in refused.text
    assert person.pending(conversation) == asked
    assert witness.count(fresh) == 0

    done = person.answer(conversation, False)

    assert (done.state, done.text) == ("done", told(False))
    assert witness.count(fresh) == 0


@pytest.mark.parametrize("persons", [AS_SENT], indirect=True)
@pytest.mark.parametrize("text", ["no", "", "__custom__"])
def test_a_client_that_sends_what_the_graph_compares_is_taken_at_its_word(
    person: Person, conversation: str, fresh: str, witness: Witness, text: str
) -> None:
    person.say(conversation, script(asking(fresh)))
    done = person.answer(conversation, text)
    assert (done.state, done.text) == ("done", told(text))
    assert witness.count(fresh) == int(bool(text))


@READ
@pytest.mark.parametrize("wrong", ["", "  ", "__custom__", {"text": 7}], ids=str)
def test_what_is_no_answer_is_refused(person: Person, conversation: str, fresh: str, wrong: Any) -> None:
    _refused(person, conversation, fresh, wrong)


@pytest.mark.parametrize("wrong", [2**64, [{"deep": -(2**63) - 1}]], ids=str)
def test_what_the_graph_could_not_take_is_refused(person: Person, conversation: str, fresh: str, wrong: Any) -> None:
    _refused(person, conversation, fresh, wrong)


def _refused(person: Person, conversation: str, fresh: str, wrong: Any) -> None:
    asked = person.say(conversation, script(asking(fresh))).asked
    assert person.answer(conversation, wrong).state == "invalid"
    assert person.pending(conversation) == asked


@READ
def test_an_option_that_the_graph_offers_is_passed_on_as_its_text(
    person: Person, conversation: str, fresh: str, witness: Witness
) -> None:
    value = {"question": "Approve?", "options": ["yes", "no"], "amount": 3}
    [asked] = person.say(conversation, script(asking(fresh, value))).asked
    assert asked.data["options"] == ["yes", "no"]
    assert asked.data["details"] == {"amount": 3}
    assert person.answer(conversation, "No").state == "invalid"
    assert person.answer(conversation, "no").text == told("no")


def test_a_cancelled_one_is_not_answered_and_nothing_happens(
    person: Person, conversation: str, fresh: str, witness: Witness
) -> None:
    person.say(conversation, script(asking(fresh)))
    assert person.refuse(conversation).state == "failed"
    assert witness.count(fresh) == 0


def test_who_comes_second_is_told_the_json_that_won(person: Person, conversation: str, fresh: str) -> None:
    [asked] = person.say(conversation, script(asking(fresh))).asked
    late = person.once_more()
    assert person.answer(conversation, False, asked=asked).state == "done"
    conflict = late.answer(conversation, True, asked=asked)
    assert conflict.state == "conflict"
    assert conflict.told["answer"] == {"answer": False}


def test_asks_of_our_own_take_a_no_as_a_text(person: Person, conversation: str) -> None:
    person.say(conversation, script(calls(("request_clarification", {"question": "Which?", "options": []}))))
    assert person.answer(conversation, False).state == "invalid"
    assert person.answer(conversation, "no").text == "no"
