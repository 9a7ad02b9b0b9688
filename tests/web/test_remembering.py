"""Answers that stand for later calls: each promise is one whole sentence, and the grant is just what it says."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support import hitl
from tests.support.puppet import calls, script
from tests.support.witness import Witness
from tests.web.person import Person
from tests.web.reviewing import Review, asks, opened

ONCE = "Only this time"
SENTENCES = {
    "Always allow exactly this guarded call in this conversation": ("this_action", "session"),
    "Always allow exactly this guarded call in all my conversations until revoked": ("this_action", "forever"),
    "Always allow guarded, any arguments, in this conversation": ("this_tool", "session"),
    "Always allow guarded, any arguments, in all my conversations until revoked": ("this_tool", "forever"),
    "Always allow every tool, any arguments, in this conversation": ("all_tools", "session"),
    "Always allow every tool, any arguments, in all my conversations until revoked": ("all_tools", "forever"),
}
EVERY_TOOL = "Always allow every tool, any arguments, in this conversation"
HIGH_RISK = "Also for high-risk calls"
HIGHER = "Calls of a higher risk are still asked about."
REVOKED = "Asks again if the tool changes. Revoke in Settings."


@pytest.fixture(autouse=True)
def nothing_is_kept(reviewer: Person) -> None:
    """What an earlier test let be remembered must not answer for this one."""
    with hitl.of(reviewer.client) as api:
        for grant in api.grants():
            api.http.delete(f"/api/v1/grants/{grant['id']}").raise_for_status()


def grants(reviewer: Person) -> list[dict[str, Any]]:
    with hitl.of(reviewer.client) as api:
        return api.grants()


def happens(reviewer: Person, thread_id: str, name: str) -> list[str]:
    """What a further call in that conversation comes to."""
    return hitl.chatted(reviewer.client, thread_id, script(calls(("guarded", {"name": name})))).events


def thread_of(review: Review) -> str:
    review.finished()
    return review.told()["conversation_id"]


def test_each_sentence_names_the_tool_the_scope_and_the_end(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="sentences"))
    offered = review.page.get_by_role("group", name="Remember")
    expect(offered.get_by_role("radio")).to_have_count(7)
    for sentence in (ONCE, *SENTENCES):
        expect(offered.get_by_role("radio", name=sentence, exact=True)).to_be_visible()
    expect(offered.get_by_role("radio", name=ONCE)).to_be_checked()
    expect(offered).to_contain_text(REVOKED)
    expect(offered).to_contain_text(HIGHER)
    review.chooses("Refuse")
    review.later()
    review.bar.get_by_text(f"Remember: {ONCE}").click()
    for sentence in SENTENCES:
        expect(review.bar.get_by_role("radio", name=sentence.replace("allow", "refuse"), exact=True)).to_be_visible()


def test_of_a_risky_call_only_the_very_same_one_is_remembered(reviewer: Person, witness: Witness) -> None:
    review = opened(reviewer, asks(reviewer, "execute", command="kept-risky"))
    offered = review.page.get_by_role("group", name="Remember")
    expect(offered.get_by_role("radio")).to_have_count(3)
    offered.get_by_label("Always allow exactly this execute call in this conversation").check()
    review.types_code()
    review.chooses("Approve")
    review.ends("Remembered: Always allow exactly this execute call in this conversation")
    thread_id = thread_of(review)
    again = hitl.chatted(reviewer.client, thread_id, script(calls(("execute", {"command": "kept-risky"}))))
    assert "interrupt" not in again.events
    assert witness.count("kept-risky") == 2
    other = hitl.chatted(reviewer.client, thread_id, script(calls(("execute", {"command": "kept-other"}))))
    assert "interrupt" in other.events


@pytest.mark.parametrize("sentence", [one for one, (scope, _) in SENTENCES.items() if scope != "all_tools"])
def test_a_sentence_makes_the_grant_that_it_says(reviewer: Person, sentence: str) -> None:
    scope, duration = SENTENCES[sentence]
    review = opened(reviewer, asks(reviewer, "guarded", name=f"kept-{scope}-{duration}"))
    review.page.get_by_label(sentence, exact=True).check()
    expect(review.bar).to_contain_text(f"And from now on: {sentence}")
    review.chooses("Approve")
    review.ends(f"Remembered: {sentence}")
    (grant,) = grants(reviewer)
    assert (grant["scope"], grant["duration"], grant["allow"]) == (scope, duration, True)
    here, there = thread_of(review), reviewer.client.new_thread()
    same, other = f"kept-{scope}-{duration}", f"other-{scope}-{duration}"
    assert "interrupt" not in happens(reviewer, here, same)
    assert ("interrupt" in happens(reviewer, there, same)) == (duration == "session")
    assert ("interrupt" in happens(reviewer, reviewer.client.new_thread(), other)) == (
        duration == "session" or scope == "this_action"
    )


def test_a_promise_for_every_tool_takes_the_code(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="kept-wide"))
    review.page.get_by_label("Always allow every tool, any arguments, in this conversation").check()
    review.tries("Approve")
    review.press("a")
    review.is_open()
    printed = review.shown.get_by_text("to approve").get_by_role("strong").inner_text()
    review.code.fill(printed)
    review.chooses("Approve")
    review.ends("Remembered: Always allow every tool")
    (grant,) = grants(reviewer)
    assert (grant["scope"], grant["duration"], grant["tool"]) == ("all_tools", "session", None)


def test_every_tool_granted_on_a_medium_call_lets_no_high_risk_command_run_unasked(
    reviewer: Person, witness: Witness
) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="kept-below"))
    review.page.get_by_label(EVERY_TOOL).check()
    expect(review.page.get_by_label(HIGH_RISK)).not_to_be_checked()
    review.types_code()
    review.chooses("Approve")
    review.ends(f"Remembered: {EVERY_TOOL}")
    (grant,) = grants(reviewer)
    assert grant["ceiling"] == "medium"
    risky = script(calls(("execute", {"command": "kept-below-risky"})))
    assert "interrupt" in hitl.chatted(reviewer.client, thread_of(review), risky).events
    assert witness.count("kept-below-risky") == 0
    listed = reviewer.opens("/settings/grants").get_by_role("main").get_by_role("listitem")
    expect(listed).to_contain_text("up to medium risk")


def test_high_risk_is_a_choice_of_its_own_that_is_asked_about_once_more(reviewer: Person, witness: Witness) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="kept-raised"))
    high = review.page.get_by_label(HIGH_RISK)
    expect(high).to_have_count(0)
    review.page.get_by_label("Always allow exactly this guarded call in this conversation").check()
    expect(high).to_have_count(0)
    tool = "Always allow guarded, any arguments, in this conversation"
    review.page.get_by_label(tool).check()
    dialog = review.page.get_by_role("dialog", name="Let high-risk calls run without asking?")
    for way_out in (lambda: review.press("Escape"), dialog.get_by_role("button", name="No, ask about those").click):
        high.click()
        expect(dialog).to_be_visible()
        way_out()
        expect(dialog).to_have_count(0)
        expect(high).not_to_be_checked()
    expect(review.code).to_have_count(0)
    high.click()
    dialog.get_by_role("button", name="Yes, also high-risk calls").click()
    expect(high).to_be_checked()
    # It takes the code, as whatever is given away so widely.
    expect(review.code).to_be_visible()
    # Another promise is another question.
    review.page.get_by_label(EVERY_TOOL).check()
    expect(high).not_to_be_checked()
    high.click()
    dialog.get_by_role("button", name="Yes, also high-risk calls").click()
    review.types_code()
    review.chooses("Approve")
    review.ends(f"Remembered: {EVERY_TOOL}, also for high-risk calls")
    (grant,) = grants(reviewer)
    assert (grant["scope"], grant["ceiling"]) == ("all_tools", "high")
    risky = script(calls(("execute", {"command": "kept-raised-risky"})))
    assert "interrupt" not in hitl.chatted(reviewer.client, thread_of(review), risky).events
    assert witness.count("kept-raised-risky") == 1
    listed = reviewer.opens("/settings/grants").get_by_role("main").get_by_role("listitem")
    expect(listed).to_contain_text("up to high risk")


def test_a_refusal_offers_no_choice_of_risk(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="kept-no-risk"))
    review.chooses("Refuse")
    review.later()
    review.bar.get_by_text(f"Remember: {ONCE}").click()
    review.bar.get_by_label(EVERY_TOOL.replace("allow", "refuse")).check()
    expect(review.page.get_by_label(HIGH_RISK)).to_have_count(0)
    expect(review.page.get_by_text(HIGHER)).to_have_count(0)


def test_a_refusal_is_remembered_as_a_refusal(reviewer: Person, witness: Witness) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="kept-refused"))
    review.page.get_by_label("Always allow guarded, any arguments, in this conversation").check()
    review.chooses("Refuse")
    review.later()
    # A yes for later must not turn into a no for later by itself.
    review.bar.get_by_text(f"Remember: {ONCE}").click()
    review.bar.get_by_label("Always refuse guarded, any arguments, in this conversation").check()
    review.bar.get_by_role("button", name="Refuse", exact=True).click()
    review.ends("Remembered: Always refuse guarded, any arguments, in this conversation")
    (grant,) = grants(reviewer)
    assert (grant["scope"], grant["duration"], grant["allow"]) == ("this_tool", "session", False)
    assert "interrupt" not in happens(reviewer, thread_of(review), "kept-refused-later")
    assert witness.count("kept-refused-later") == 0


def test_only_this_time_remembers_nothing(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="just-once"))
    review.chooses("Approve")
    review.ends("Approved at")
    assert grants(reviewer) == []
    assert "interrupt" in happens(reviewer, thread_of(review), "just-once")
