"""What becomes of a request while it is open: drafts that stay, time that runs out, others who are first."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import Error, expect

from tests.support import hitl
from tests.support.inbox import answer, asked
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.person import Person
from tests.web.reviewing import Review, asks, opened, reviewed

QUESTION: dict[str, Any] = {"question": "Which region?", "options": ["eu", "us"], "default_answer": "eu"}
SECONDS = (2, 8, 32)


def ask(reviewer: Person, kind: str, data: dict[str, Any], **fields: Any) -> str:
    """Asked by a program elsewhere."""
    with hitl.of(reviewer.client) as elsewhere:
        return elsewhere.ask(kind, data, **fields)["request_id"]


def reloaded(reviewer: Person, review: Review) -> Review:
    review.page.reload()
    return reviewed(reviewer, review.page, review.request_id)


def test_drafts_of_an_approval_survive_a_reload(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="drafted"))
    for name, field, text in (
        ("Refuse", "Reason", "why not\nat all"),
        ("Reply", "What the agent is told", "读完了"),
        ("Edit", "name", "edited draft"),
    ):
        review.chooses(name)
        review.page.get_by_label(field, exact=name == "Edit").fill(text)
        review.press("Escape")
        review = reloaded(reviewer, review)
        review.chooses(name)
        expect(review.page.get_by_label(field, exact=name == "Edit")).to_have_value(text)
        review.press("Escape")
    review.is_open()


def test_drafts_of_an_answer_survive_a_reload_and_go_with_the_answer(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "request_clarification", question="Which?", options=["a", "b"]))
    review.page.get_by_label("Your own words").fill("neither")
    review.page.get_by_role("radio", name="b").check()
    review = reloaded(reviewer, review)
    expect(review.page.get_by_role("radio", name="b")).to_be_checked()
    review.page.get_by_role("radio", name="In my own words").check()
    expect(review.page.get_by_label("Your own words")).to_have_value("neither")
    review.chooses("Send")
    review.ends("Answered at")
    assert review.page.evaluate("Object.keys(sessionStorage).filter((key) => key.includes('draft'))") == []


def expired(reviewer: Person, kind: str, data: dict[str, Any], begin: Callable[[Review], None]) -> Review:
    """A request whose time runs out after somebody began to answer it; of a slow machine more is waited for."""
    for seconds in SECONDS:
        review = opened(reviewer, ask(reviewer, kind, data, timeout_seconds=seconds))
        with suppress(Error):
            begin(review)
            if review.told()["status"] == "pending":
                # The page may say so sooner: its clock was put forward.
                wait_for(review.told, lambda told: told["status"] == "expired", 2 * seconds + 20.0)
                return review
    raise AssertionError("the time ran out before anybody could begin")


def writes(field: str, text: str) -> Callable[[Review], None]:
    return lambda review: review.page.get_by_label(field).fill(text, timeout=5_000)


def copies(review: Review) -> str:
    """The draft that is kept."""
    review.ends("Your draft is kept.")
    review.chooses("Copy it")
    expect(review.button("Copied")).to_be_visible()
    review.page.context.grant_permissions(["clipboard-read"])
    return review.page.evaluate("navigator.clipboard.readText()")


def test_a_question_that_expires_says_what_was_used_and_keeps_the_draft(reviewer: Person) -> None:
    review = expired(reviewer, "clarification", QUESTION, writes("Your own words", "I was about to say"))
    review.ends("This was used: eu")
    assert copies(review) == "I was about to say"
    assert review.told()["response"] == {"answer": "eu"}


def test_an_approval_that_expires_says_that_nothing_ran_and_keeps_the_draft(reviewer: Person) -> None:
    def begin(review: Review) -> None:
        review.page.get_by_text("nothing runs and the agent is told so.").wait_for(timeout=5_000)
        review.press("m")
        writes("What the agent is told", "half a reply")(review)

    review = expired(reviewer, "permission", {"tool_name": "reboot", "args": {}}, begin)
    review.ends("while you were reading. Nothing ran; the agent is told that nobody answered.")
    expect(review.shown.or_(review.page.get_by_text("What was asked to run")).first).to_be_visible()
    assert copies(review) == "half a reply"
    assert review.sent == []


def test_a_request_that_somebody_else_answered_keeps_the_draft_and_sends_nothing(
    reviewer: Person, witness: Witness
) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="taken"))
    review.press("r")
    review.page.get_by_label("Reason").fill("mine")
    answer(reviewer.client, review.request_id, {"decision": "accept"}).raise_for_status()
    review.ends("You approved this at")
    review.ends("Nothing was sent from this page.")
    review.ends("Your draft is kept.")
    review.press("a", "r", "Control+Enter")
    assert review.sent == []
    assert review.finished() == "done taken"
    assert witness.count("taken") == 1


def test_an_edit_that_somebody_else_overtook_is_not_said_to_be_what_will_run(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="as asked"))
    review.press("e")
    review.page.get_by_label("name", exact=True).fill("as edited")
    answer(reviewer.client, review.request_id, {"decision": "accept"}).raise_for_status()
    review.ends("You approved this at")
    expect(review.page.get_by_text("What will run instead")).to_have_count(0)
    expect(review.part("What was asked to run")).to_contain_text("as asked")
    expect(review.bar.locator("[data-act=state]")).to_be_focused()
    assert json.loads(copies(review)) == {"name": "as edited"}
    assert review.sent == []


def test_a_conversation_that_is_deleted_takes_its_request_along(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="deleted"))
    thread_id = review.told()["conversation_id"]
    reviewer.client.http.delete(f"/api/sessions/{thread_id}").raise_for_status()
    review.ends("The conversation was deleted.")
    review.press("a", "r")
    expect(review.bar.get_by_role("button")).to_have_count(0)
    assert review.sent == []


def test_the_next_in_a_pause_is_one_that_can_still_be_answered(reviewer: Person) -> None:
    first, second, third = asked(reviewer.client, *(("guarded", {"name": name}) for name in ("one", "two", "three")))
    answer(reviewer.client, second["request_id"], {"decision": "reject"}).raise_for_status()
    review = opened(reviewer, first["request_id"])
    review.chooses("Approve")
    review.ends("Approved at")
    following = review.bar.get_by_role("link", name="Next in this pause")
    expect(following).to_have_attribute("href", f"/requests/{third['request_id']}")
    answer(reviewer.client, third["request_id"], {"decision": "reject"}).raise_for_status()
    expect(following).to_have_count(0)


def test_more_time_moves_the_deadline(reviewer: Person) -> None:
    review = opened(reviewer, ask(reviewer, "clarification", QUESTION, timeout_seconds=100))
    expect(review.page.get_by_text(re.compile(r"^1:\d\d left$")).last).to_be_visible()
    before = review.told()["expires_at"]
    review.page.get_by_role("button", name="+5 min").click()
    expect(review.page.get_by_text(re.compile(r"^\d min left$")).last).to_be_visible()
    assert review.told()["expires_at"] > before
    fixed = ask(reviewer, "clarification", {**QUESTION, "extendable": False}, timeout_seconds=100)
    review = opened(reviewer, fixed)
    expect(review.page.get_by_role("button", name="+5 min")).to_have_count(0)
    review.is_open()


def test_what_is_settled_tells_who_how_and_from_where(reviewer: Person) -> None:
    request_id = asks(reviewer, "guarded", name="told-later")
    answer(reviewer.client, request_id, {"decision": "reject", "message": "too late"}).raise_for_status()
    review = opened(reviewer, request_id)
    expect(review.page.get_by_role("heading", level=1)).to_have_text("guarded wanted to run")
    review.ends("You refused this at")
    review.ends("in a browser.")
    expect(review.page.get_by_role("main")).to_contain_text("too late")
    expect(review.page.get_by_role("region", name="What was asked to run")).to_contain_text('"told-later"')
    expect(review.bar.get_by_role("button")).to_have_count(0)


def test_a_request_of_somebody_else_is_not_shown(reviewer: Person, owner: ThreadsClient) -> None:
    (entry,) = asked(owner, ("guarded", {"name": "private-words"}))
    page = reviewer.opens(f"/requests/{entry['request_id']}")
    expect(page.get_by_role("alert")).to_contain_text("This request does not exist, or you may not see it.")
    assert "private-words" not in page.content()


@pytest.mark.parametrize("keys", ["Enter", "Control+Enter"])
def test_enter_of_an_input_method_sends_nothing(reviewer: Person, keys: str) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name=f"ime-{keys}"))
    review.press("r")
    reason = review.page.get_by_label("Reason")
    expect(reason).to_be_focused()
    machine: Any = review.page.context.new_cdp_session(review.page)
    machine.send("Input.imeSetComposition", {"text": "buyao", "selectionStart": 5, "selectionEnd": 5})
    expect(reason).to_have_value("buyao")
    review.press(keys)
    review.is_open()
    machine.send("Input.insertText", {"text": "不要"})
    review.is_open()
    review.later()
    reason.press("Control+Enter")
    review.ends("Refused at")
    assert "不要" in review.sent[0]["value"]["message"]
    assert "不要" in review.finished()


def test_letters_of_an_input_method_arm_nothing(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="ime-letters"))
    machine: Any = review.page.context.new_cdp_session(review.page)
    for key in ("a", "r", "m", "e", "1"):
        machine.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", "key": key, "windowsVirtualKeyCode": 229})
        machine.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": key, "windowsVirtualKeyCode": 229})
    expect(review.button("Approve")).to_be_visible()
    expect(review.bar.get_by_text("exactly as shown?")).to_have_count(0)
    review.is_open()
