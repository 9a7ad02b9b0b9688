"""The chat page: what an agent says as it says it, every kind of pause where it stands, stopping, coming back."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Request, expect

from tests.support.puppet import Call, calls, fails, gate, says, script
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.chatting import begin, said, thread_of
from tests.web.person import Person
from tests.web.reviewing import Review, reviewed, waits

HOW: dict[str, Any] = {"question": "How?", "options": [{"label": "Now", "value": "now"}]}
WHY: dict[str, Any] = {"question": "Why?", "options": []}


def asks(reviewer: Person, call: Call) -> Review:
    """The pause that a call makes, as a card of its conversation."""
    page = begin(reviewer, script(calls(call)))
    thread_id = thread_of(page)
    status = reviewer.client.wait_for_status(thread_id, "interrupted")
    return reviewed(reviewer, page, status["interrupt_info"]["requests"][0]["request_id"])


def test_what_the_agent_says_is_shown_while_it_says_it(reviewer: Person, witness: Witness) -> None:
    half = f"half-{reviewer.name}"
    page = begin(reviewer, script(calls(("note", {"name": half}), say=["First ", gate(half), "**and** last."])))
    expect(said(page, "First")).to_be_visible()
    expect(page.get_by_text("The agent is working", exact=True)).to_be_visible()
    expect(page.get_by_label("Message")).to_have_attribute("placeholder", "The agent is still working: wait or stop it")
    witness.release(half)
    expect(said(page, "First and last.")).to_be_visible()
    expect(page.locator("strong", has_text="and")).to_be_visible()
    expect(said(page, f"noted {half}")).to_have_count(2)
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    assert witness.count(half) == 1


def approve(card: Review) -> None:
    card.chooses("Approve")


def clarify(card: Review) -> None:
    card.page.get_by_role("radio", name="b").check()
    card.chooses("Send")


def decide(card: Review) -> None:
    card.page.get_by_role("radio", name="Go").check()
    card.page.get_by_label("Reason").fill("why not")
    card.chooses("Send")


def hand_over(card: Review) -> None:
    card.page.get_by_label("TOKEN").fill("s3cret-token")
    card.chooses("Send values")


def answer_both(card: Review) -> None:
    card.page.get_by_role("radio", name="Now").check()
    card.page.get_by_label("Your own words").fill("because")
    card.chooses("Send 2 answers")


PAUSES: dict[str, tuple[Call, Callable[[Review], None], str, str]] = {
    "approval": (("guarded", {"name": "in-chat"}), approve, "guarded wants to run", "done in-chat"),
    "clarification": (
        ("request_clarification", {"question": "Which?", "options": ["a", "b"]}),
        clarify,
        "puppet asks",
        "b",
    ),
    "decision": (
        ("request_decision", {"title": "Go?", "options": [{"key": "go", "label": "Go"}]}),
        decide,
        "puppet wants a decision",
        '{"decision": "go", "reason": "why not"}',
    ),
    "env_var": (
        ("request_env_vars", {"fields": [{"name": "TOKEN"}]}),
        hand_over,
        "puppet needs values",
        '{"provided": ["TOKEN"]}',
    ),
    "questions": (
        ("ask_user", {"questions": [HOW, WHY]}),
        answer_both,
        "puppet asks",
        '[{"question": "How?", "answer": "now"}, {"question": "Why?", "answer": "because"}]',
    ),
}
"""Of each kind: what asks, what a person does, how the card is headed, and what the agent says in the end."""


@pytest.mark.parametrize("kind", PAUSES)
def test_a_pause_is_answered_where_it_stands_and_the_agent_goes_on(reviewer: Person, kind: str) -> None:
    call, act, heading, told = PAUSES[kind]
    card = asks(reviewer, call)
    page = card.page
    expect(page.get_by_role("heading", level=2, name=heading)).to_be_visible()
    expect(page.get_by_text("Waiting for your answer")).to_be_visible()
    expect(page.get_by_label("Message")).to_have_attribute("placeholder", "Answer the request first")
    act(card)
    expect(said(page, told).last).to_be_visible()
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    assert (card.told()["kind"], card.told()["status"], card.told()["source"]) == (kind, "answered", "web")
    assert "s3cret-token" not in page.content()


def test_letters_act_on_a_card_only_while_it_has_the_focus(reviewer: Person, witness: Witness) -> None:
    name = f"focused-{reviewer.name}"
    card = asks(reviewer, ("guarded", {"name": name}))
    card.page.get_by_role("heading", level=1).focus()
    card.press("r", "a")
    card.later()
    card.press("a")
    card.is_open()
    card.press("g", "r")
    card.press("a")
    expect(card.bar.get_by_text("Press A again")).to_be_visible()
    card.later()
    card.press("a")
    card.ends("guarded has run")
    wait_for(lambda: witness.count(name), lambda count: count == 1)


def test_a_stop_while_the_agent_speaks_lets_it_end_its_sentence_and_run_nothing(
    reviewer: Person, witness: Witness
) -> None:
    name = f"unsaid-{reviewer.name}"
    page = begin(reviewer, script(calls(("note", {"name": name}), say=["Half a ", gate(name), "sentence."])))
    expect(said(page, "Half a")).to_be_visible()
    page.keyboard.press("Control+.")
    expect(page.get_by_text("Stopping…")).to_be_visible()
    witness.release(name)
    expect(page.get_by_text("Stopped. Your next message continues from here.")).to_be_visible()
    expect(said(page, "Half a sentence.")).to_be_visible()
    assert witness.count(name) == 0
    page.get_by_label("Message").fill(script(says("Going on.")))
    page.get_by_role("button", name="Send").click()
    expect(said(page, "Going on.")).to_be_visible()


def test_a_stop_lets_the_tool_under_way_finish_and_says_which(reviewer: Person, witness: Witness) -> None:
    name = f"held-{reviewer.name}"
    page = begin(reviewer, script(calls(("hold", {"name": name})), says("Not said any more.")))
    wait_for(lambda: witness.count(f"at:{name}"), lambda count: count == 1)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    waits(page)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopping once hold has finished…")).to_be_visible()
    witness.release(name)
    expect(page.get_by_text("Stopped. Your next message continues from here.")).to_be_visible()
    expect(said(page, "Not said any more.")).to_have_count(0)
    assert witness.count(name) == 1


def test_a_stop_cancels_what_waits(reviewer: Person, witness: Witness) -> None:
    name = f"cancelled-{reviewer.name}"
    card = asks(reviewer, ("guarded", {"name": name}))
    card.page.get_by_role("button", name="Stop").click()
    expect(card.page.get_by_text("Stopped. Your next message continues from here.")).to_be_visible()
    assert card.told()["status"] == "cancelled"
    assert witness.count(name) == 0


def test_what_was_said_and_decided_is_there_after_coming_back(reviewer: Person) -> None:
    card = asks(reviewer, ("guarded", {"name": "kept"}))
    card.chooses("Approve")
    expect(said(card.page, "done kept").last).to_be_visible()
    page = reviewer.opens("/chat")
    page.get_by_role("navigation", name="Conversations").get_by_role("link", name="guarded").first.click()
    expect(page).to_have_url(card.page.url)
    expect(said(page, "done kept")).to_have_count(2)
    settled, result = page.get_by_text("You approved this at"), said(page, "done kept").first
    expect(settled).to_be_visible()
    expect(page.get_by_text("guarded kept", exact=True)).to_be_visible()
    assert is_above(settled, result)
    page.get_by_role("link", name="View request").click()
    expect(page.get_by_role("main")).to_contain_text("You approved this at")


def is_above(one: Locator, other: Locator) -> bool:
    first, second = one.bounding_box(), other.bounding_box()
    assert first
    assert second
    return first["y"] < second["y"]


def test_two_pages_of_one_conversation_show_the_same(reviewer: Person) -> None:
    one = begin(reviewer, script(says("To both.")))
    expect(said(one, "To both.")).to_be_visible()
    other = reviewer.opens(f"/chat/{thread_of(one)}")
    expect(said(other, "To both.")).to_be_visible()
    one.get_by_label("Message").fill(script(calls(("note", {"name": "seen"})), says("Again to both.")))
    one.get_by_label("Message").press("Enter")
    expect(said(other, "Again to both.")).to_be_visible()
    expect(said(other, "noted seen")).to_be_visible()
    expect(other.get_by_text('"Again to both."')).to_be_visible()


def test_a_failed_run_says_why_and_gives_the_message_back(reviewer: Person) -> None:
    message = script(fails("no such <b>model</b>"))
    page = begin(reviewer, message)
    expect(page.get_by_text("The agent failed", exact=True)).to_be_visible()
    page.get_by_role("button", name="Restore my message").click()
    expect(page.get_by_label("Message")).to_have_value(message)


def test_what_an_agent_links_to_is_shown_and_nothing_is_fetched_from_there(reviewer: Person) -> None:
    elsewhere: list[str] = []

    def heard(request: Request) -> None:
        if not request.url.startswith(reviewer.url):
            elsewhere.append(request.url)

    reviewer.context.on("request", heard)
    text = (
        "[our docs](https://evil.example/x) ![a picture](https://evil.example/p.png) <i>plain</i> [run](javascript:x)"
    )
    page = begin(reviewer, script(says(text)))
    region = page.get_by_role("region", name="Conversation")
    expect(region.get_by_role("link", name="our docs")).to_have_attribute("href", "https://evil.example/x")
    shown = "our docs (https://evil.example/x) [image: a picture] (https://evil.example/p.png) <i>plain</i>"
    expect(region.locator("p").last).to_have_text(f"{shown} run (javascript:x)")
    expect(region.locator("img, i")).to_have_count(0)
    assert elsewhere == []


def test_a_deleted_conversation_is_gone_from_every_page_and_the_server(person: Person) -> None:
    page = begin(person, script(says("To be forgotten.")))
    expect(said(page, "To be forgotten.")).to_be_visible()
    thread_id = thread_of(page)
    other = person.opens(f"/chat/{thread_id}")
    expect(said(other, "To be forgotten.")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="New conversation")).to_be_visible()
    expect(page.get_by_text("No conversations yet.")).to_be_visible()
    expect(other.get_by_text("This conversation was deleted.")).to_be_visible()
    assert person.client.http.get(f"/api/history/{thread_id}").status_code == 403
