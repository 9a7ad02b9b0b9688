"""What a tool says that a call would do is on the page of the request, whatever the agent."""

import pytest
from playwright.sync_api import expect

from tests.support.inbox import asked
from tests.web.person import Person
from tests.web.reviewing import Review, opened


def asked_for(reviewer: Person, shown: str) -> Review:
    (entry,) = asked(reviewer.client, ("reprice", {"shown": shown}), agent="painter")
    return opened(reviewer, entry["request_id"])


def test_a_table_is_shown_as_a_table_with_its_hidden_characters(reviewer: Person) -> None:
    review = asked_for(reviewer, "table")
    expect(review.shown.get_by_role("heading", name="What it would do")).to_be_visible()
    rows = review.shown.get_by_role("row")
    expect(rows).to_have_text(["itemprice", "chair‹U+202E RLO›12", "table40"])
    review.chooses("Approve")
    review.ends("reprice has run")


def test_a_text_is_shown_line_by_line(reviewer: Person) -> None:
    review = asked_for(reviewer, "text")
    expect(review.shown).to_contain_text("chair: 10 → 12")
    expect(review.shown).to_contain_text("table: 30 → 40")


def test_a_change_of_something_that_is_no_file_claims_no_time_of_its_last_change(reviewer: Person) -> None:
    review = asked_for(reviewer, "diff")
    expect(review.shown).to_contain_text("prices+1 −1")
    expect(review.shown).to_contain_text("added:chair: 12")
    expect(review.shown).not_to_contain_text("last changed")
    expect(review.shown).not_to_contain_text("?")


@pytest.mark.parametrize("decision", ["Approve", "Refuse"])
def test_a_preview_that_failed_says_why_and_is_in_nobodys_way(reviewer: Person, decision: str) -> None:
    review = asked_for(reviewer, f"nothing-{decision}")
    expect(review.shown).to_contain_text("No preview: LookupError: no price list")
    review.chooses(decision)
    if decision == "Refuse":
        review.later()
        review.bar.get_by_role("button", name="Refuse", exact=True).click()
    review.ends("has run" if decision == "Approve" else "does not run")
