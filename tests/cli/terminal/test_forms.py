"""Everything but approvals in the inbox: questions, decisions, values."""

from typing import Any

import pytest
from textual.widgets import Checkbox, Input

from tests.cli.terminal.driving import Asker, inbox
from tests.support.hitl import HitlClient
from tests.support.server import ServerProcess

QUESTION: dict[str, Any] = {"question": "Which region?", "options": ["eu", "us"]}
CHOICE: dict[str, Any] = {
    "title": "Delete it?",
    "options": [{"key": "proceed", "label": "Go on", "style": "danger"}, {"key": "leave", "label": "Leave it"}],
    "risks": ["data loss"],
}
VARIABLES: dict[str, Any] = {
    "fields": [{"name": "API_KEY", "label": "Key"}, {"name": "REGION", "sensitive": False, "required": False}]
}
SEVERAL: dict[str, Any] = {
    "questions": [
        "What?",
        {"question": "Which?", "options": ["a", "b"]},
        {"question": "How?", "options": ["fast", {"label": "other", "value": "__custom__", "allow_custom": True}]},
    ]
}


def is_pending(person: HitlClient, request_id: str) -> bool:
    return person.look(request_id)["status"] == "pending"


async def test_a_question_is_answered_with_an_option(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.ask("clarification", QUESTION)["request_id"]
    async with inbox(server.url, key) as driver:
        await driver.open("Which region?")
        await driver.press("ctrl+s")
        await driver.sees("Choose one")
        await driver.press("j", "space", "ctrl+s")
        await driver.sees("✓ answered")
    assert asker.response_to(asked) == {"answer": "us"}


async def test_a_question_is_answered_in_own_words(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.ask("clarification", QUESTION)["request_id"]
    async with inbox(server.url, key) as driver:
        await driver.open("Which region?")
        await driver.press("3")
        await driver.type("asia")
        await driver.press("ctrl+s")
        await driver.sees("✓ answered")
    assert asker.response_to(asked) == {"answer": "asia"}


async def test_a_question_without_options_takes_words(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.ask("clarification", {"question": "Your name?"})["request_id"]
    async with inbox(server.url, key) as driver:
        await driver.open("Your name?")
        await driver.type("jk q")
        await driver.press("ctrl+s")
        await driver.sees("✓ answered")
    assert asker.response_to(asked) == {"answer": "jk q"}


async def test_where_own_words_are_not_taken_none_are_offered(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.ask("clarification", {**QUESTION, "allow_custom": False})["request_id"]
    async with inbox(server.url, key) as driver:
        await driver.open("Which region?")
        assert "own words" not in driver.text
        await driver.press("1", "ctrl+s")
        await driver.sees("✓ answered")
    assert asker.response_to(asked) == {"answer": "eu"}


async def test_a_decision_is_made_with_a_reason(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.ask("decision", CHOICE)["request_id"]
    async with inbox(server.url, key) as driver:
        await driver.open("Delete it?")
        await driver.sees("risk: data loss")
        await driver.press("2", "tab")
        await driver.type("too early")
        await driver.press("ctrl+s")
        await driver.sees("✓ answered")
    assert asker.response_to(asked) == {"decision": "leave", "reason": "too early"}


async def test_a_dangerous_option_needs_a_word(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    asked = asker.ask("decision", CHOICE)["request_id"]
    async with inbox(server.url, key) as driver:
        await driver.open("Delete it?")
        await driver.sees("▲ Go on  [proceed]")
        await driver.press("1", "enter", "ctrl+s")
        await driver.sees("marks it as dangerous")
        await driver.press("enter", "ctrl+s")
        await driver.sees("That is not it")
        assert is_pending(person, asked)
        await driver.type("proceed")
        await driver.press("ctrl+s")
        await driver.sees("✓ answered")
    assert asker.response_to(asked) == {"decision": "proceed"}


async def test_values_are_handed_over_unseen_and_forgotten(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    asked = asker.ask("env_var", VARIABLES)["request_id"]
    async with inbox(server.url, key) as driver:
        await driver.open("API_KEY, REGION")
        await driver.press("ctrl+s")
        await driver.sees("Missing: API_KEY")
        await driver.type("sesame7")
        await driver.press("tab")
        await driver.type("eu")
        assert "sesame7" not in driver.text
        await driver.press("ctrl+s")
        await driver.sees("✓ answered")
        assert [field.value for field in driver.app.screen.query(Input)] == ["", ""]
    assert asker.response_to(asked)["values"] == {"API_KEY": "***", "REGION": "eu"}
    assert asker.collect(asked).json()["data"]["values"] == {"API_KEY": "sesame7", "REGION": "eu"}
    assert person.saved() == []


async def test_values_are_saved_when_the_box_is_ticked(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    asker.ask("env_var", {"fields": ["TOKEN"]})
    async with inbox(server.url, key) as driver:
        await driver.open("TOKEN")
        await driver.type("sesame7")
        await driver.press("tab", "space")
        assert driver.app.screen.query_one(Checkbox).value
        await driver.press("ctrl+s")
        await driver.sees("✓ answered")
    assert [saved["name"] for saved in person.saved()] == ["TOKEN"]


async def test_values_that_may_not_be_saved_have_no_box(server: ServerProcess, key: str, asker: Asker) -> None:
    asker.ask("env_var", {"fields": ["TOKEN"], "allow_save": False})
    async with inbox(server.url, key) as driver:
        await driver.open("TOKEN")
        assert not driver.app.screen.query(Checkbox)


async def test_several_questions_are_answered_in_one_form(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.ask("clarification", SEVERAL)["request_id"]
    async with inbox(server.url, key) as driver:
        await driver.open("What? / Which?")
        await driver.type("this")
        await driver.press("tab", "2", "ctrl+s")
        await driver.sees("Not answered yet: 3")
        await driver.press("tab", "2")
        await driver.type("slowly")
        await driver.press("ctrl+s")
        await driver.sees("✓ answered")
    assert asker.response_to(asked) == {"answers": ["this", "b", "slowly"]}


@pytest.mark.parametrize("kind", ["clarification", "decision", "env_var", "questions"])
async def test_leaving_a_form_answers_nothing(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient, kind: str
) -> None:
    asks = {"clarification": QUESTION, "decision": CHOICE, "env_var": VARIABLES, "questions": SEVERAL}
    asked = asker.ask("clarification" if kind == "questions" else kind, asks[kind])["request_id"]
    async with inbox(server.url, key) as driver:
        await driver.open("1 waiting")
        await driver.press("1", "enter", "escape")
        await driver.sees("1 waiting")
    assert is_pending(person, asked)


async def test_what_the_server_refuses_stays_open_with_the_reason(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    asked = asker.ask("clarification", {"question": "Your name?"})["request_id"]
    async with inbox(server.url, key) as driver:
        await driver.open("Your name?")
        await driver.type("__custom__")
        await driver.press("ctrl+s")
        await driver.sees("Not taken, and still waiting")
        assert is_pending(person, asked)
        driver.app.screen.query_one(Input).value = ""
        await driver.type("Li")
        await driver.press("ctrl+s")
        await driver.sees("✓ answered")
    assert asker.response_to(asked) == {"answer": "Li"}
