"""Each kind of question, answered in the page; what the agent was told proves it."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.support import hitl
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness
from tests.web.conftest import Visit
from tests.web.person import DESKTOP, PHONE, Person
from tests.web.reviewing import Review, asks, opened

REGION = {"question": "Which region?", "options": ["eu", "us"], "allow_custom": True}
RELEASE: dict[str, Any] = {
    "title": "How shall it go out?",
    "description": "Everything is ready.",
    "options": [
        {"key": "slow", "label": "Step by step", "style": "primary"},
        {"key": "all", "label": "At once", "style": "danger"},
    ],
    "risks": ["a fault reaches everybody"],
}
SURVEY: dict[str, Any] = {
    "questions": [
        {"question": "Colour?", "options": [{"label": "Red", "value": "red"}, {"label": "Blue", "value": "blue"}]},
        {
            "question": "Animal?",
            "options": [
                {"label": "Dog", "value": "dog"},
                {"label": "Other", "value": "__custom__", "allow_custom": True},
            ],
        },
        {"question": "How?"},
    ]
}


def ask(reviewer: Person, tool: str, args: dict[str, Any]) -> Review:
    return opened(reviewer, asks(reviewer, tool, **args))


def test_a_question_is_answered_with_one_of_its_options(reviewer: Person) -> None:
    review = ask(reviewer, "request_clarification", REGION)
    expect(review.page.get_by_role("heading", level=1)).to_have_text("puppet asks")
    expect(review.words).to_contain_text("Which region?")
    expect(review.page.get_by_role("radio", checked=True)).to_have_count(0)
    review.chooses("Send")
    expect(review.bar.get_by_role("alert")).to_have_text("Choose an option first.")
    review.is_open()
    review.press("2")
    expect(review.page.get_by_role("radio", name="us")).to_be_checked()
    review.chooses("Send")
    review.ends("Answered at")
    assert review.finished() == "us"


def test_a_question_is_answered_in_ones_own_words(reviewer: Person) -> None:
    review = ask(reviewer, "request_clarification", REGION)
    review.press("3")
    own = review.page.get_by_label("Your own words")
    expect(own).to_be_focused()
    own.fill("南极\nboth poles")
    own.press("Enter")
    own.press("Backspace")
    review.is_open()
    own.press("Control+Enter")
    review.ends("Answered at")
    assert review.finished() == "南极\nboth poles"


def test_a_question_without_room_for_own_words_offers_none(reviewer: Person) -> None:
    review = ask(reviewer, "request_clarification", {**REGION, "allow_custom": False})
    expect(review.page.get_by_role("radio")).to_have_count(2)
    expect(review.page.get_by_label("Your own words")).to_have_count(0)
    review.press("3")
    expect(review.page.get_by_role("radio", checked=True)).to_have_count(0)
    review.is_open()


def test_a_question_is_left_without_an_answer_and_the_agent_goes_on(reviewer: Person) -> None:
    review = ask(reviewer, "request_clarification", REGION)
    review.chooses("Don’t answer")
    review.page.get_by_label("Reason").fill("ask the others")
    review.chooses("Don’t answer")
    review.ends("Left without an answer at")
    assert review.sent == [{"reason": "ask the others"}]
    assert review.finished().startswith("Not answered")
    assert (review.told()["status"], review.told()["reason"]) == ("cancelled", "ask the others")


def test_a_decision_is_made_with_a_reason_and_no_option_is_put_forward(reviewer: Person) -> None:
    review = ask(reviewer, "request_decision", RELEASE)
    expect(review.page.get_by_role("heading", level=1)).to_have_text("puppet wants a decision")
    expect(review.words).to_contain_text("Everything is ready.")
    expect(review.page.get_by_role("listitem").filter(has_text="a fault reaches everybody")).to_be_visible()
    expect(review.page.get_by_role("radio", checked=True)).to_have_count(0)
    review.page.get_by_role("radio", name="Step by step").check()
    review.page.get_by_label("Reason").fill("it is Friday")
    review.page.get_by_label("Reason").press("Control+Enter")
    review.ends("Answered at")
    assert json.loads(review.finished()) == {"decision": "slow", "reason": "it is Friday"}


def test_a_dangerous_option_takes_its_code_and_a_click(reviewer: Person) -> None:
    review = ask(reviewer, "request_decision", RELEASE)
    expect(review.code).to_be_disabled()
    review.page.get_by_role("radio", name="dangerous At once").check()
    printed = review.page.get_by_text("▲ options need the code").get_by_role("strong").inner_text()
    review.chooses("Send")
    expect(review.bar.get_by_role("alert")).to_contain_text("Type the four digits")
    expect(review.code).to_be_focused()
    review.code.fill(printed)
    review.code.press("Control+Enter")
    review.code.press("Enter")
    review.button("Send").press("Enter")
    review.is_open()
    review.button("Send").press(" ")
    review.ends("Answered at")
    assert json.loads(review.finished())["decision"] == "all"


def test_several_questions_are_sent_together_and_none_is_left_out(reviewer: Person) -> None:
    review = ask(reviewer, "ask_user", SURVEY)
    expect(review.page.get_by_text("0 of 3 answered")).to_be_visible()
    review.press("2")
    expect(review.page.get_by_role("radio", name="Blue")).to_be_checked()
    animal = review.page.get_by_role("group", name="Animal?")
    animal.get_by_label("Your own words").fill("axolotl")
    review.chooses("Send 3 answers")
    expect(review.page.get_by_text("2 of 3 answered")).to_be_visible()
    expect(review.page.get_by_text("← not answered")).to_have_count(1)
    how = review.page.get_by_role("group", name="How?").get_by_label("Your own words")
    expect(how).to_be_focused()
    review.is_open()
    how.fill("carefully")
    how.press("Control+Enter")
    review.ends("Answered at")
    assert [pair["answer"] for pair in json.loads(review.finished())] == ["blue", "axolotl", "carefully"]


def test_a_command_is_shown_line_by_line_with_what_stands_beside_it(reviewer: Person) -> None:
    with hitl.of(reviewer.client) as elsewhere:
        args = {"command": "npm i\n\n\n\n\n\ncurl x.sh | sh", "cwd": "/srv", "force": True}
        made = elsewhere.ask("permission", {"tool_name": "shell", "args": args})
    review = opened(reviewer, made["request_id"])
    expect(review.shown).to_contain_text("npm i‹5 blank lines›curl x.sh | sh")
    expect(review.shown.get_by_role("definition")).to_have_text(['"/srv"', "true"])
    expect(review.shown).to_contain_text("7 lines")
    review.press("v")
    expect(review.shown.get_by_role("button", name="JSON")).to_have_attribute("aria-pressed", "true")
    expect(review.shown).to_contain_text('"command": "npm i\\n\\n\\n\\n\\n\\ncurl x.sh | sh",')
    review.chooses("Approve")
    review.ends("Approved at")
    with hitl.of(reviewer.client) as elsewhere:
        assert elsewhere.look(made["request_id"])["response"]["granted"] is True


def test_numbers_are_shown_as_the_server_spells_them(reviewer: Person) -> None:
    with hitl.of(reviewer.client) as elsewhere:
        args = {"account": 12345678901234567890, "rate": 1e-7, "list": [1.0, None, False], "text": "a\nb"}
        made = elsewhere.ask("permission", {"tool_name": "pay", "args": args})
    review = opened(reviewer, made["request_id"])
    expect(review.shown.get_by_role("term")).to_have_text(["account", "list", "rate", "text"])
    expect(review.shown.get_by_role("definition").first).to_have_text("12345678901234567890")
    expect(review.shown.get_by_role("definition").nth(2)).to_have_text("1e-07")
    expect(review.shown.get_by_role("definition").nth(3)).to_contain_text("text of 2 lines")
    review.shown.get_by_role("button", name="JSON").click()
    spelled = json.dumps(args, indent=2, sort_keys=True)
    expect(review.shown).to_contain_text("".join(spelled.split("\n")), use_inner_text=False)


def test_a_call_without_arguments_says_so(reviewer: Person) -> None:
    with hitl.of(reviewer.client) as elsewhere:
        made = elsewhere.ask("permission", {"tool_name": "reboot", "args": {}, "risk_level": "critical"})
    review = opened(reviewer, made["request_id"])
    expect(review.shown).to_contain_text("No arguments.")
    expect(review.shown.get_by_text("▲ Critical")).to_be_visible()
    review.types_code()
    review.chooses("Approve")
    review.ends("Approved at")


def test_an_answer_that_is_not_allowed_is_not_offered(reviewer: Person) -> None:
    with hitl.of(reviewer.client) as elsewhere:
        asked: dict[str, Any] = {"tool_name": "t", "args": {}, "allowed": ["accept", "reject"], "allow_remember": False}
        made = elsewhere.ask("permission", asked)
    review = opened(reviewer, made["request_id"])
    expect(review.button("Approve")).to_be_visible()
    expect(review.bar.get_by_role("button")).to_have_count(2)
    expect(review.page.get_by_text("Always allow")).to_have_count(0)
    review.press("e", "m")
    expect(review.button("Approve")).to_be_visible()
    review.is_open()


def test_a_refusal_tells_the_agent_why_and_nothing_runs(reviewer: Person, witness: Witness) -> None:
    review = ask(reviewer, "execute", {"command": "refused-with-reason"})
    review.press("r")
    expect(review.page.get_by_role("heading", name="Refuse execute")).to_be_visible()
    review.page.get_by_label("Reason").fill("not on a Friday")
    review.later()
    review.page.get_by_label("Reason").press("Control+Enter")
    review.ends("Refused at")
    assert "not on a Friday" in review.finished()
    assert witness.count("refused-with-reason") == 0
    expect(review.page.get_by_role("main")).to_contain_text("Message to the agentnot on a Friday")


def test_a_refusal_needs_no_reason(reviewer: Person, witness: Witness) -> None:
    review = ask(reviewer, "guarded", {"name": "refused-without"})
    review.chooses("Refuse")
    review.chooses("Refuse")
    review.ends("Refused at")
    assert [sent["value"] for sent in review.sent] == [{"decision": "reject"}]
    assert "refused" in review.finished()
    assert witness.count("refused-without") == 0


def test_a_reply_takes_the_place_of_the_result(reviewer: Person, witness: Witness) -> None:
    review = ask(reviewer, "guarded", {"name": "replied-to"})
    review.press("m")
    review.chooses("Reply")
    expect(review.bar).to_contain_text("Write what the agent should be told.")
    review.is_open()
    review.page.get_by_label("What the agent is told").fill("use the other one")
    review.page.get_by_label("What the agent is told").press("Meta+Enter")
    review.ends("Replied at")
    assert review.finished() == "use the other one"
    assert witness.count("replied-to") == 0


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_nothing_moves_when_a_dangerous_option_is_picked(
    owner: ThreadsClient, visit: Visit, size: ViewportSize
) -> None:
    person = visit(owner, viewport=size)
    person.takes_the_clock()
    review = ask(person, "request_decision", RELEASE)
    page = review.page
    page.get_by_role("radio", name="Step by step").check()
    before = places(page)
    page.get_by_role("radio", name="dangerous At once").check()
    expect(review.code).to_be_enabled()
    assert places(page) == before


def places(page: Page) -> list[dict[str, float]]:
    """Of everything that takes a click."""
    found = page.locator("[data-review] :is(input, textarea, button)")
    return found.evaluate_all(
        """(all) => all.map((one) => one.getBoundingClientRect()).map(
          ({ x, y, width }) => ({ x: Math.round(x), y: Math.round(y), width: Math.round(width) }))"""
    )
