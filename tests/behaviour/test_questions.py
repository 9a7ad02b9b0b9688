"""Questions of every kind, at every face and on every database."""

import hashlib
import json
from typing import Any

import pytest

from tests.behaviour.driver import Person
from tests.support.puppet import Call, calls, script
from tests.support.waiting import wait_for
from tests.support.witness import Witness

HOW: dict[str, Any] = {
    "question": "How?",
    "options": [{"label": "Now", "value": "now"}, {"label": "Later", "value": "later"}],
}
WHY: dict[str, Any] = {"question": "Why?", "options": []}
CLARIFY: Call = ("request_clarification", {"question": "Which?", "options": ["a", "b"], "allow_custom": False})
DECIDE: Call = ("request_decision", {"title": "Go?", "options": [{"key": "go", "label": "Go"}]})
KEY: Call = ("request_env_vars", {"fields": [{"name": "TOKEN"}, {"name": "REGION", "required": False}]})
ASK: Call = ("ask_user", {"questions": [HOW, WHY]})


def test_answers_reach_the_agent_in_order(person: Person, conversation: str) -> None:
    paused = person.say(conversation, script(calls(ASK)))
    assert [one.kind for one in paused.asked] == ["questions"]
    done = person.answer(conversation, "now", "because")
    assert [item["answer"] for item in json.loads(done.text)] == ["now", "because"]


@pytest.mark.parametrize(
    ("call", "kind", "answer", "told"),
    [
        (CLARIFY, "clarification", "b", "b"),
        (DECIDE, "decision", "go", '{"decision": "go", "reason": ""}'),
    ],
)
def test_a_choice_reaches_the_agent(
    person: Person, conversation: str, call: Call, kind: str, answer: str, told: str
) -> None:
    paused = person.say(conversation, script(calls(call)))
    assert [one.kind for one in paused.asked] == [kind]
    assert person.answer(conversation, answer).text == told


@pytest.mark.parametrize(
    ("call", "wrong", "right"),
    [
        (CLARIFY, ("c",), ("a",)),
        (DECIDE, ("stop",), ("go",)),
        (KEY, ("", "eu"), ("t", "eu")),
        (ASK, ("never", "x"), ("later", "x")),
        (ASK, ("now", " "), ("now", "x")),
        (ASK, ("now",), ("now", "x")),
    ],
)
def test_an_answer_that_does_not_fit_leaves_the_question_open(
    person: Person, conversation: str, call: Call, wrong: tuple[str, ...], right: tuple[str, ...]
) -> None:
    asked = person.say(conversation, script(calls(call))).asked
    assert person.answer(conversation, *wrong).state == "invalid"
    assert person.pending(conversation) == asked
    assert person.answer(conversation, *right).state == "done"


@pytest.mark.parametrize("call", [CLARIFY, DECIDE, KEY, ASK])
def test_a_cancelled_question_is_told_to_the_agent(person: Person, conversation: str, call: Call) -> None:
    person.say(conversation, script(calls(call)))
    done = person.refuse(conversation)
    assert done.state == "done"
    assert done.text.startswith("Not answered")


def test_a_secret_reaches_the_tool_and_nobody_else(person: Person, conversation: str, witness: Witness) -> None:
    value = f"s3cret of {conversation}"
    person.say(conversation, script(calls(KEY), calls(("use_key", {"name": "TOKEN"}))))
    done = person.answer(conversation, value, "")
    assert done.state == "done"
    assert witness.count(f"key:{hashlib.sha256(value.encode()).hexdigest()}") == 1
    assert value not in done.text
    assert all(value not in text for _, text in person.history(conversation))


def test_who_does_not_answer_in_time_is_not_taken_for_a_yes(person: Person, conversation: str) -> None:
    person.say(conversation, script(calls(("hurried", {"seconds": 0.2}))))
    texts = _when_over(person, conversation)
    assert texts[-1].startswith("nobody")


def test_a_default_takes_the_place_of_who_does_not_answer(person: Person, conversation: str) -> None:
    person.say(conversation, script(calls(("hurried", {"seconds": 0.2, "default": "no"}))))
    assert _when_over(person, conversation)[-1] == "no"


def _when_over(person: Person, conversation: str) -> list[str]:
    """The texts of the conversation once the agent has spoken again."""
    history = wait_for(lambda: person.history(conversation), lambda messages: messages[-1][0] == "assistant")
    return [text for _, text in history]
