"""Each kind of request: what may be asked, what may be answered, and how every wrong field is named."""

from typing import Any

import pytest

from tests.support.hitl import (
    CHOICE,
    PERMISSION,
    QUESTION,
    SEVERAL,
    VARIABLES,
    HitlClient,
    asked_by_agent,
    finished,
    wrong_fields,
)
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

WRONG_ASKS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("clarification", {}, ["question"]),
    ("clarification", {"question": " ", "options": ["", 3], "allow_custom": "no"}, ["allow_custom", "options[0]"]),
    ("clarification", {"question": 1, "options": "ab", "default_answer": 2}, ["default_answer", "options", "question"]),
    ("clarification", {"question": "q", "allow_custom": False}, ["options"]),
    ("clarification", {"questions": []}, ["questions"]),
    ("clarification", {"questions": "What?"}, ["questions"]),
    ("clarification", {"questions": [1, {"question": ""}]}, ["questions[0]", "questions[1].question"]),
    ("clarification", {"questions": [{"question": "q", "options": 5}]}, ["questions[0].options"]),
    ("clarification", {"questions": [{"question": "q", "options": "ab"}]}, ["questions[0].options"]),
    ("clarification", {"questions": [{"question": "q", "options": [{"label": 1}]}]}, ["questions[0].options[0].label"]),
    ("decision", {}, ["options", "title"]),
    ("decision", {"title": "t", "options": []}, ["options"]),
    ("decision", {"title": "t", "options": ["a", "a"]}, ["options"]),
    ("decision", {"title": 3, "options": [{"key": ""}, 5], "risks": [1]}, ["options[0].key", "options[1]", "risks[0]"]),
    ("env_var", {}, ["fields"]),
    ("env_var", {"fields": []}, ["fields"]),
    ("env_var", {"fields": ["A", "A"]}, ["fields"]),
    ("env_var", {"fields": [{}, 5], "allow_save": "yes"}, ["allow_save", "fields[0].name", "fields[1]"]),
    (
        "env_var",
        {"fields": [{"name": "A", "sensitive": "false", "required": 0}]},
        ["fields[0].required", "fields[0].sensitive"],
    ),
    ("permission", {}, ["tool_name"]),
    ("permission", {"tool_name": "t", "args": [], "risk_level": "wild"}, ["args", "risk_level"]),
    ("permission", {"tool_name": "t", "allowed": ["everything"]}, ["allowed"]),
    ("permission", {"tool_name": "t", "allow_remember": 1, "tool_schema": "{}"}, ["allow_remember", "tool_schema"]),
]


@pytest.mark.parametrize(("kind", "asked", "fields"), WRONG_ASKS)
def test_what_cannot_be_asked_is_refused_with_its_fields(
    person: HitlClient, kind: str, asked: dict[str, Any], fields: list[str]
) -> None:
    assert set(wrong_fields(person.try_ask(kind, asked))) >= set(fields)


def test_a_variable_is_secret_unless_the_ask_says_otherwise(person: HitlClient) -> None:
    made = person.ask("env_var", {"fields": ["A", {"name": "B", "sensitive": None}, {"name": "C", "sensitive": False}]})
    assert [field["sensitive"] for field in made["request_data"]["fields"]] == [True, True, False]
    assert [field["required"] for field in made["request_data"]["fields"]] == [True, True, True]


def test_what_is_left_out_has_the_documents_defaults(person: HitlClient) -> None:
    assert person.ask("clarification", {"question": "q"})["request_data"] == {
        "question": "q",
        "options": [],
        "allow_custom": True,
        "default_answer": None,
        "timeout_seconds": 300,
    }
    shown = person.ask("permission", {"tool_name": "t", "args": {"a": 1}})["request_data"]
    assert (shown["tool_display_name"], shown["risk_level"], shown["allow_remember"]) == ("t", "medium", True)
    assert shown["action"] == "t 1"


def test_fields_of_an_ask_that_are_not_known_are_ignored(person: HitlClient) -> None:
    made = person.ask("clarification", QUESTION | {"colour": "red"}, priority=9)
    assert "colour" not in made["request_data"]


WRONG_ANSWERS: list[tuple[str, dict[str, Any], dict[str, Any], list[str]]] = [
    ("clarification", QUESTION, {}, ["response.answer"]),
    ("clarification", QUESTION, {"answer": 5, "selected": "A"}, ["response.answer", "response.selected"]),
    ("clarification", QUESTION, {"answer": "C"}, ["response.answer"]),
    ("clarification", QUESTION, {"selected_option": "C"}, ["response.selected_option"]),
    ("clarification", QUESTION, {"answer": "A", "selected_option": "B"}, ["response.selected_option"]),
    ("clarification", {"question": "q"}, {"answer": "  "}, ["response.answer"]),
    ("clarification", {"question": "q"}, {"answer": "__custom__"}, ["response.answer"]),
    ("clarification", SEVERAL, {}, ["response.answers"]),
    ("clarification", SEVERAL, {"answer": "x"}, ["response.answers"]),
    ("clarification", SEVERAL, {"answers": ["x"]}, ["response.answers"]),
    ("clarification", SEVERAL, {"answers": [1, "c"]}, ["response.answers[0]", "response.answers[1]"]),
    ("clarification", SEVERAL, {"answers": "xy"}, ["response.answers"]),
    ("clarification", SEVERAL, {"answers": ["x", "a"], "answer": "y"}, ["response.answer"]),
    ("decision", CHOICE, {}, ["response.decision"]),
    ("decision", CHOICE, {"decision": "perhaps"}, ["response.decision"]),
    ("decision", CHOICE, {"decision": True, "reason": 1}, ["response.decision", "response.reason"]),
    ("decision", CHOICE, {"decision": "proceed", "force": True}, ["response.force"]),
    ("env_var", VARIABLES, {}, ["response.values"]),
    ("env_var", VARIABLES, {"values": {}}, ["response.values.API_KEY", "response.values.REGION"]),
    ("env_var", VARIABLES, {"values": {"API_KEY": "", "REGION": "r"}}, ["response.values.API_KEY"]),
    ("env_var", VARIABLES, {"values": {"API_KEY": "k", "REGION": 1}}, ["response.values.REGION"]),
    ("env_var", VARIABLES, {"values": {"API_KEY": "k", "REGION": "r", "PATH": "p"}}, ["response.values.PATH"]),
    ("env_var", VARIABLES, {"values": {"API_KEY": "k", "REGION": "r"}, "save": "yes"}, ["response.save"]),
    ("env_var", {"fields": ["A"], "allow_save": False}, {"values": {"A": "k"}, "save": True}, ["response.save"]),
    ("permission", PERMISSION, {}, ["response.granted"]),
    ("permission", PERMISSION, {"granted": "yes"}, ["response.granted"]),
    ("permission", PERMISSION, {"granted": 1}, ["response.granted"]),
    ("permission", PERMISSION, {"grant": True}, ["response.grant"]),
    ("permission", PERMISSION, {"granted": True, "remember": "true"}, ["response.remember"]),
    ("permission", PERMISSION, {"granted": True, "duration": "always"}, ["response.duration"]),
    ("permission", PERMISSION, {"granted": True, "scope": "everything"}, ["response.scope"]),
    ("permission", PERMISSION, {"granted": True, "reason": "no"}, ["response.reason"]),
    ("permission", PERMISSION, {"granted": True, "reply": "no"}, ["response.reply"]),
    ("permission", PERMISSION, {"granted": False, "args": {}}, ["response.args"]),
    ("permission", PERMISSION, {"granted": True, "args": []}, ["response.args"]),
    ("permission", PERMISSION, {"granted": False, "reply": " "}, ["response.reply"]),
    ("permission", PERMISSION | {"allowed": ["accept"]}, {"granted": True, "args": {}}, ["response.args"]),
    ("permission", PERMISSION | {"allowed": ["accept"]}, {"granted": False, "reply": "x"}, ["response.reply"]),
    ("permission", PERMISSION | {"allowed": ["edit"]}, {"granted": True}, ["response.granted"]),
    ("permission", PERMISSION | {"allow_remember": False}, {"granted": True, "remember": True}, ["response.remember"]),
    (
        "permission",
        PERMISSION,
        {"granted": True, "args": {"path": "/b"}, "remember": True, "duration": "forever"},
        ["response.remember"],
    ),
]


@pytest.mark.parametrize(("kind", "asked", "response", "fields"), WRONG_ANSWERS)
def test_an_answer_that_does_not_fit_is_refused_and_it_stays_pending(
    person: HitlClient, kind: str, asked: dict[str, Any], response: dict[str, Any], fields: list[str]
) -> None:
    request_id = person.ask(kind, asked)["request_id"]
    assert wrong_fields(person.try_respond(request_id, response)) == fields
    shown = person.look(request_id)
    assert (shown["status"], shown["response"]) == ("pending", None)


RIGHT_ANSWERS: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("clarification", QUESTION, {"answer": "A", "selected_option": "A"}, {"answer": "A"}),
    ("clarification", QUESTION, {"selected_option": "B"}, {"answer": "B"}),
    ("clarification", QUESTION | {"allow_custom": True}, {"answer": "C"}, {"answer": "C"}),
    ("clarification", SEVERAL, {"answers": ["own words", "b"]}, {"answers": ["own words", "b"]}),
    ("clarification", {"questions": ["One?"]}, {"answer": "yes"}, {"answers": ["yes"]}),
    ("decision", CHOICE, {"decision": "proceed"}, {"decision": "proceed"}),
    ("decision", CHOICE, {"decision": "proceed", "reason": "sure"}, {"decision": "proceed", "reason": "sure"}),
    (
        "env_var",
        VARIABLES,
        {"values": {"API_KEY": "k", "REGION": "r"}},
        {"values": {"API_KEY": "***", "REGION": "r"}, "save": False},
    ),
    ("env_var", {"fields": [{"name": "A", "required": False}]}, {"values": {}}, {"values": {}, "save": False}),
    ("permission", PERMISSION, {"granted": True}, {"granted": True}),
    ("permission", PERMISSION, {"granted": True, "duration": "once", "scope": "this_tool"}, {"granted": True}),
    ("permission", PERMISSION, {"granted": True, "args": {"path": "/b"}}, {"granted": True, "args": {"path": "/b"}}),
    ("permission", PERMISSION, {"granted": False}, {"granted": False}),
    ("permission", PERMISSION, {"granted": False, "reason": "no"}, {"granted": False, "reason": "no"}),
    ("permission", PERMISSION, {"granted": False, "reply": "ask Bob"}, {"granted": False, "reply": "ask Bob"}),
]


@pytest.mark.parametrize(("kind", "asked", "response", "shown"), RIGHT_ANSWERS)
def test_an_answer_is_read_back_in_the_words_in_which_it_was_given(
    person: HitlClient, kind: str, asked: dict[str, Any], response: dict[str, Any], shown: dict[str, Any]
) -> None:
    made = person.ask(kind, asked)
    person.respond(made["request_id"], response)
    assert person.look(made["request_id"])["response"] == shown


def test_refusing_is_possible_where_it_was_not_offered(person: HitlClient) -> None:
    request_id = person.ask("permission", PERMISSION | {"allowed": ["accept"]})["request_id"]
    person.respond(request_id, {"granted": False})
    assert person.look(request_id)["response"] == {"granted": False}


def test_edited_arguments_of_a_hosted_tool_are_held_against_its_schema(
    alice: ThreadsClient, person: HitlClient, thread: str, witness: Witness
) -> None:
    asked_by_agent(alice, thread, ("write_file", {"path": "before", "content": "x"}))
    request_id = person.one_pending(thread)["request_id"]
    for args in ({"path": 5, "content": "x"}, {"content": "x"}):
        fields = wrong_fields(person.try_respond(request_id, {"granted": True, "args": args}))
        assert all(field.startswith("response.args") for field in fields)
    assert person.look(request_id)["status"] == "pending"
    person.respond(request_id, {"granted": True, "args": {"path": "after", "content": "x"}})
    assert "done after" in finished(alice, thread)
    assert (witness.count("before"), witness.count("after")) == (0, 1)


def test_a_reply_stands_in_for_the_tools_result(alice: ThreadsClient, person: HitlClient, thread: str) -> None:
    asked_by_agent(alice, thread, ("guarded", {"name": "replied"}))
    person.respond(person.one_pending(thread)["request_id"], {"granted": False, "reply": "use the other one"})
    assert "use the other one" in finished(alice, thread)


def test_a_reason_reaches_the_agent(alice: ThreadsClient, person: HitlClient, thread: str, witness: Witness) -> None:
    asked_by_agent(alice, thread, ("guarded", {"name": "reasoned"}))
    person.respond(person.one_pending(thread)["request_id"], {"granted": False, "reason": "it is Friday"})
    assert "it is Friday" in finished(alice, thread)
    assert witness.count("reasoned") == 0
