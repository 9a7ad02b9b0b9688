"""Several people at several browsers: whose yes counts, who has it, and what they say to each other."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.hitl import PERMISSION
from tests.support.inbox import answer, view
from tests.support.people import FIRST, People
from tests.web.conftest import Visit
from tests.web.inspecting import Inspector
from tests.web.person import Person
from tests.web.reviewing import Review, reviewed

INBOX = "/api/v1/inbox/requests"
ASKER, BOB, CYD = "payer", "teller-bob", "teller-cyd"

Ask = Callable[..., str]


@pytest.fixture(scope="module")
def group(people: People) -> str:
    """A group of two tellers, and of who asks them."""
    members = [people.named(name).username for name in (ASKER, BOB, CYD)]
    name = f"payments-{uuid.uuid4().hex[:6]}"
    people.named(FIRST).http.post("/api/v1/groups", json={"name": name, "members": members}).raise_for_status()
    return name


@pytest.fixture
def ask(people: People, group: str) -> Ask:
    """A program of the asker asks the group, for two of it unless a test says otherwise."""

    def ask(people_needed: int = 2, **data: Any) -> str:
        body = {
            "type": "permission",
            "request_data": {**PERMISSION, "risk_level": "medium", **data},
            "needs": {"people": people_needed, "from": [f"group:{group}"]},
        }
        asked = people.named(ASKER).http.post("/api/v1/agent/hitl/requests", json=body).raise_for_status()
        return asked.json()["data"]["request_id"]

    return ask


@pytest.fixture
def at(people: People, visit: Visit) -> Callable[..., Person]:
    """Somebody at a browser of their own, whose clock a test can put forward."""

    def at(name: str, **options: object) -> Person:
        person = visit(people.named(name), **options)
        person.context.clock.install()
        return person

    return at


def on(person: Person, request_id: str) -> Review:
    return reviewed(person, person.opens(f"/requests/{request_id}"), request_id)


def team(page: Page) -> Locator:
    return page.locator("[data-act=team]")


def test_two_people_say_yes_and_it_settles(at: Callable[..., Person], ask: Ask) -> None:
    request_id = ask()
    bob, cyd = on(at(BOB), request_id), on(at(CYD), request_id)
    expect(team(bob.page)).to_contain_text("Needs the yes of 2 people of payments-")
    expect(bob.button("Edit").or_(bob.button("Reply"))).to_have_count(0)
    expect(bob.bar).to_contain_text("no edits, replies or remembered answers")
    bob.chooses("Approve")
    bob.ends("Your yes is in. 1 of 2.")
    # Decided by each for themselves: how many, and not who.
    expect(team(cyd.page)).to_contain_text("1 of 2 have said yes.")
    expect(team(cyd.page)).not_to_contain_text(BOB)
    expect(team(bob.page).get_by_role("list", name="Votes")).to_contain_text(f"{BOB} said yes")
    bob.chooses("Take my yes back")
    expect(team(cyd.page)).to_contain_text("0 of 2 have said yes.")
    bob.chooses("Approve")
    bob.ends("Your yes is in. 1 of 2.")
    cyd.chooses("Approve")
    cyd.ends("Approved at")
    bob.ends(f"{BOB}, {CYD} approved this at")
    expect(bob.bar).not_to_contain_text("You sent nothing")
    end = view(cyd.owner, request_id)
    assert (end["status"], end["answered_by"]) == ("answered", f"{BOB}, {CYD}")


def test_who_asked_has_no_yes_and_is_told_why_and_may_still_stop_it(at: Callable[..., Person], ask: Ask) -> None:
    asker = on(at(ASKER), ask(risk_level="low"))
    expect(asker.button("Refuse")).to_be_visible()
    expect(asker.button("Approve")).to_have_count(0)
    expect(asker.bar).to_contain_text("You asked for this, so your yes does not count.")
    expect(team(asker.page)).to_contain_text("You asked, so yours does not count.")
    asker.press("a")
    asker.later()
    asker.press("a")
    assert asker.sent == []
    asker.chooses("Refuse")
    asker.chooses("Refuse")
    asker.ends("Refused at")
    # An admin who is no candidate neither.
    root = on(at(FIRST), ask())
    expect(root.bar).to_contain_text("You cannot approve this: it is put to payments-")
    expect(root.button("Approve")).to_have_count(0)


def test_a_claim_is_seen_by_the_other_and_answering_over_it_asks(at: Callable[..., Person], ask: Ask) -> None:
    request_id = ask(people_needed=1)
    bob, cyd = on(at(BOB), request_id), on(at(CYD), request_id)
    team(bob.page).get_by_role("button", name="I have it").press("Enter")
    expect(team(bob.page)).to_contain_text("You have it until")
    expect(team(cyd.page)).to_contain_text(f"{BOB} has it until")
    expect(team(cyd.page).get_by_role("button", name="I have it")).to_have_count(0)
    team(bob.page).get_by_role("button", name="Release").press("Enter")
    expect(team(cyd.page).get_by_role("button", name="I have it")).to_be_visible()
    team(bob.page).get_by_role("button", name="I have it").press("Enter")
    expect(team(cyd.page)).to_contain_text(f"{BOB} has it until")
    cyd.chooses("Approve")
    asking = cyd.bar.locator("[data-act=over]")
    expect(asking).to_contain_text(f"{BOB} has this until")
    expect(asking).to_be_focused()
    cyd.press("Space", "Enter")
    assert cyd.sent == []
    cyd.press("Escape")
    expect(cyd.button("Approve")).to_have_text(re.compile("^Approve"))
    cyd.is_open()
    cyd.chooses("Approve")
    cyd.chooses("Approve anyway")
    cyd.ends("Approved at")
    assert [one["over_claim"] for one in cyd.sent] == [True]
    bob.ends(f"{CYD} approved this at")


def test_a_comment_appears_at_the_other_live_and_as_text(at: Callable[..., Person], ask: Ask, people: People) -> None:
    request_id = ask()
    asker, bob = on(at(ASKER), request_id), on(at(BOB), request_id)
    field = team(asker.page).get_by_label("Write to the others")
    field.fill("Is <b>this</b>\u202e right?")
    field.press("Control+Enter")
    expect(team(asker.page).get_by_role("list", name="Comments")).to_contain_text("Is <b>this</b>‹U+202E RLO› right?")
    expect(field).to_have_value("")
    # Who has not decided reads only what they wrote themselves.
    expect(team(bob.page)).to_contain_text("You see what others wrote once you have decided yourself.")
    written = team(bob.page).get_by_label("Write to the others")
    written.fill("I called them")
    team(bob.page).get_by_role("button", name="Comment", exact=True).press("Enter")
    expect(team(asker.page).get_by_role("list", name="Comments")).to_contain_text("I called them")
    expect(team(bob.page).get_by_role("list", name="Comments").get_by_role("listitem")).to_have_count(1)
    bob.chooses("Approve")
    bob.ends("Your yes is in. 1 of 2.")
    expect(team(bob.page).get_by_role("list", name="Comments").get_by_role("listitem")).to_have_count(2)
    said = people.named(BOB).http.get(f"{INBOX}/{request_id}/comments").raise_for_status().json()["comments"]
    assert [one["text"] for one in said] == ["Is <b>this</b>\u202e right?", "I called them"]
    assert asker.sent == []


def test_it_is_passed_on_to_whom_it_may_be(at: Callable[..., Person], ask: Ask, people: People) -> None:
    request_id = ask(people_needed=1)
    bob, cyd = on(at(BOB), request_id), on(at(CYD), request_id)
    team(bob.page).get_by_role("button", name="Pass on…").press("Enter")
    dialog = bob.page.get_by_role("dialog")
    expect(dialog.get_by_label("Name")).to_be_focused()
    for name, words in ((BOB, "nobody else of this name"), (people.named("stranger").username, "not asked for such")):
        dialog.get_by_label("Name").fill(name)
        dialog.get_by_role("button", name="Pass on").press("Enter")
        expect(dialog.get_by_role("alert")).to_contain_text(words)
    dialog.get_by_label("Name").fill(CYD)
    dialog.get_by_label("Note").fill("You know them")
    dialog.get_by_role("button", name="Pass on").press("Enter")
    expect(dialog).to_have_count(0)
    expect(bob.bar).to_contain_text("You passed this on, so your yes no longer counts.")
    expect(bob.button("Approve")).to_have_count(0)
    expect(team(cyd.page).locator("[data-act=passed-on]")).to_contain_text(f"{BOB} passed this on to {CYD}")
    expect(team(cyd.page).locator("[data-act=passed-on]")).to_contain_text("You know them")
    answer(people.named(CYD), request_id, {"decision": "accept"}).raise_for_status()
    bob.ends(f"{CYD} approved this at")


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_axe_finds_nothing_and_nothing_is_too_wide(
    at: Callable[..., Person], ask: Ask, people: People, locale: str
) -> None:
    request_id = ask(risk_level="high")
    bob, asker = people.named(BOB).http, people.named(ASKER).http
    bob.post(f"{INBOX}/{request_id}/claim").raise_for_status()
    asker.post(f"{INBOX}/{request_id}/comments", json={"text": f"{'long' * 60}\n\u202eend"}).raise_for_status()
    page = at(ASKER, locale=locale).opens(f"/requests/{request_id}")
    inspector = Inspector(page)
    expect(team(page).get_by_role("listitem")).to_have_count(1)
    inspector.looks("asked by oneself")
    shown = view(people.named(BOB), request_id)
    answer(people.named(BOB), shown, {"decision": "accept"}, code=shown["code"]).raise_for_status()
    page = at(BOB, locale=locale).opens(f"/requests/{request_id}")
    voting = Inspector(page)
    expect(page.locator("[data-state=voted]")).to_be_visible()
    voting.looks("voted")
    page = at(CYD, locale=locale).opens(f"/requests/{request_id}")
    passing = Inspector(page)
    expect(page.locator("[data-act=claim]")).to_be_visible()
    passing.looks("claimed by another one")
    team(page).get_by_role("button").filter(has_text=re.compile("…$")).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    passing.looks("passing on")
    assert [one.faults for one in (inspector, voting, passing)] == [{}, {}, {}]
    assert [one.wide for one in (inspector, voting, passing)] == [{}, {}, {}]
