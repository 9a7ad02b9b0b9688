"""Two people at two browsers: who is looking, who was first, and what the other one is told."""

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.hitl import of
from tests.support.inbox import answer, view
from tests.support.people import FIRST, People
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.conftest import Visit
from tests.web.person import Person
from tests.web.reviewing import Review, asks, opened


@pytest.fixture
def admin(people: People, visit: Visit) -> Person:
    """Somebody who may answer everything, at a browser of their own."""
    person = visit(people.named(FIRST))
    person.context.clock.install()
    return person


def test_who_looks_at_a_request_is_named_in_the_list_and_on_the_page_of_the_other(
    person: Person, admin: Person
) -> None:
    request_id = asks(person, "guarded", name="looked-at")
    listed = person.opens()
    row = listed.get_by_role("listitem").filter(has_text="looked-at")
    expect(row).to_be_visible()
    expect(row).not_to_contain_text("looking")
    theirs = admin.opens(f"/requests/{request_id}")
    expect(theirs.get_by_role("list", name="About this request")).to_contain_text(f"for {person.name}")
    expect(row).to_contain_text(f"{FIRST} is looking")
    row.get_by_role("link").click()
    expect(listed.get_by_role("list", name="About this request")).to_contain_text(f"{FIRST} is looking")
    expect(theirs.get_by_role("list", name="About this request")).to_contain_text(f"{person.name} is looking")


@pytest.mark.parametrize("revoker", ["owner", "giver"])
def test_a_grant_given_on_somebody_elses_request_says_whose_it_is_and_both_see_and_revoke_it(
    reviewer: Person, admin: Person, revoker: str
) -> None:
    name = f"granted-for-{reviewer.name}"
    theirs = opened(admin, asks(reviewer, "guarded", name=name))
    tool = f"Always allow guarded, any arguments, in all of {reviewer.name}’s conversations until revoked"
    expect(theirs.page.get_by_text("in all my conversations")).to_have_count(0)
    theirs.page.get_by_label(tool, exact=True).check()
    theirs.chooses("Approve")
    theirs.ends(f"Remembered: {tool}")
    theirs.finished()
    given = admin.opens("/settings/grants")
    listed = given.get_by_role("main").get_by_role("listitem").filter(has_text=reviewer.name)
    expect(listed).to_contain_text(tool)
    expect(listed).to_contain_text(f"For {reviewer.name}")
    page = reviewer.opens("/settings/grants")
    own = page.get_by_role("main").get_by_role("listitem")
    expect(own).to_contain_text("Always allow guarded, any arguments, in all my conversations until revoked")
    expect(own).to_contain_text(f"granted by {FIRST} on")
    item, where = (own, page) if revoker == "owner" else (listed, given)
    item.get_by_role("button", name="Revoke").click()
    where.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(item).to_have_count(0)
    for who in (reviewer, admin):
        with of(who.client) as client:
            assert reviewer.name not in [grant["owner"] for grant in client.grants()]
    opened(reviewer, asks(reviewer, "guarded", name=f"{name}-again")).is_open()


def test_the_other_browser_is_told_at_once_who_took_it(reviewer: Person, admin: Person, witness: Witness) -> None:
    name = f"taken-{reviewer.name}"
    request_id = asks(reviewer, "guarded", name=name)
    mine, theirs = opened(reviewer, request_id), opened(admin, request_id)
    theirs.chooses("Refuse")
    theirs.bar.get_by_label("Reason").fill("I would rather not")
    mine.chooses("Approve")
    mine.ends("guarded has run")
    theirs.ends(f"{reviewer.name} approved this at")
    theirs.ends("in a browser. You sent nothing.")
    theirs.ends("Your draft is kept.")
    expect(theirs.bar.get_by_role("button", name="Refuse")).to_have_count(0)
    expect(theirs.page.get_by_role("heading", level=1)).to_have_text("guarded wanted to run")
    expect(theirs.shown.or_(theirs.page.get_by_role("region", name="What was asked to run"))).to_contain_text(name)
    assert theirs.sent == []
    wait_for(lambda: witness.count(name), lambda count: count == 1)


def test_an_answer_from_elsewhere_says_from_where_it_came(reviewer: Person, people: People) -> None:
    mine = opened(reviewer, asks(reviewer, "guarded", name="elsewhere"))
    with of(people.named(FIRST)) as elsewhere:
        elsewhere.respond(mine.request_id, {"granted": False})
    mine.ends(f"{FIRST} refused this at")
    mine.ends("over the API. You sent nothing.")
    assert mine.told()["source"] == "hitl"


class Held:
    """The answers of a page, kept back until a test lets them go."""

    def __init__(self, page: Page) -> None:
        self.routes: list[Route] = []
        page.route("**/answer", self._hold)

    def go(self) -> None:
        for route in self.routes:
            route.continue_()

    def _hold(self, route: Route) -> None:
        self.routes.append(route)


def both(mine: Review, theirs: Review) -> tuple[Held, Held]:
    """One approves, the other refuses; neither answer has left its browser."""
    held = Held(mine.page), Held(theirs.page)
    mine.chooses("Approve")
    theirs.chooses("Refuse")
    theirs.later()
    theirs.bar.get_by_label("Reason").press("Control+Enter")
    for review in (mine, theirs):
        expect(review.bar).to_contain_text("Sending…")
    for review, one in zip((mine, theirs), held, strict=True):
        # Asked for its title, the browser tells first of what it has sent.
        wait_for(lambda review=review, one=one: review.page.title() and len(one.routes), lambda count: count == 1)
    return held


@pytest.mark.parametrize("first", ["approval", "refusal"])
def test_of_two_answers_one_wins_and_the_other_is_told_by_whom(
    reviewer: Person, admin: Person, witness: Witness, first: str
) -> None:
    name = f"raced-for-{first}-{reviewer.name}"
    request_id = asks(reviewer, "guarded", name=name)
    mine, theirs = opened(reviewer, request_id), opened(admin, request_id)
    approval, refusal = both(mine, theirs)
    for held in (approval, refusal) if first == "approval" else (refusal, approval):
        held.go()
    wait_for(lambda: view(reviewer.client, request_id)["status"], lambda status: status == "answered")
    told = view(reviewer.client, request_id)
    won, lost = (mine, theirs) if told["answered_by"] == reviewer.name else (theirs, mine)
    is_approved = told["response"]["decision"] == "accept"
    assert is_approved == (won is mine)
    won.ends("has run" if is_approved else "does not run")
    lost.ends(f"{told['answered_by']} {'approved' if is_approved else 'refused'} this at")
    lost.ends("Your answer came later and was not used.")
    wait_for(lambda: history(reviewer.client, told), lambda found: found == [told["answered_by"]])
    ran = int(is_approved)
    wait_for(lambda: witness.count(name), lambda count: count == ran)


def history(owner: ThreadsClient, told: dict[str, Any]) -> list[str]:
    """By whom it was settled, each time that it was."""
    entries = owner.http.get("/api/v1/history", params={"limit": 50}).raise_for_status().json()["entries"]
    return [entry["by"] for entry in entries if entry["request_id"] == told["request_id"]]


def test_what_was_settled_before_is_a_page_still_that_tells_how(reviewer: Person, people: People) -> None:
    request_id = asks(reviewer, "guarded", name="settled-before")
    answer(people.named(FIRST), request_id, {"decision": "reject", "message": "too late"}).raise_for_status()
    page = reviewer.opens(f"/requests/{request_id}")
    expect(page.get_by_role("heading", level=1)).to_have_text("guarded wanted to run")
    expect(page.get_by_role("main")).to_contain_text(f"{FIRST} refused this at")
    expect(page.get_by_role("main")).to_contain_text("too late")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
