"""What helps to judge: calls like the one that waits, a rule for them with its replay, and figures by week."""

import re
from collections.abc import Generator
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.support.inbox import answer, asked
from tests.support.people import FIRST, People
from tests.support.puppet import calls, says, script
from tests.support.threads import ThreadsClient
from tests.web.conftest import Visit
from tests.web.inspecting import Inspector
from tests.web.person import PHONE, Person, lead

POLICY = "/api/v1/policy"


def decided(owner: ThreadsClient, name: str, *decisions: str) -> None:
    """Calls of the same tool, each asked and answered."""
    for decision in decisions:
        (request,) = asked(owner, ("guarded", {"name": name}))
        answer(owner, request["request_id"], {"decision": decision}).raise_for_status()


def waiting(owner: ThreadsClient, name: str) -> str:
    (request,) = asked(owner, ("guarded", {"name": name}))
    return request["request_id"]


@pytest.fixture
def admin(people: People) -> Generator[ThreadsClient]:
    """The admin; no policy counts any more when the test has ended."""
    client = people.named(FIRST)
    yield client
    active = client.http.get(POLICY).raise_for_status().json()["active"]
    if active is not None:
        client.http.post(f"{POLICY}/deactivate", json={"expected": active}).raise_for_status()


def test_a_call_is_held_against_the_last_one_that_was_approved(owner: ThreadsClient, person: Person) -> None:
    first = waiting(owner, "release\u202e-1")
    page = person.opens(f"/requests/{first}")
    expect(page.get_by_role("heading", name="What will run")).to_be_visible()
    part = page.get_by_role("region", name="Calls like this one")
    expect(part).to_have_count(0)
    answer(owner, first, {"decision": "accept"}).raise_for_status()
    decided(owner, "release-2", "reject")
    lead(page, f"/requests/{waiting(owner, 'release-3')}")
    expect(part).to_contain_text("The 3rd call like this. People approved 1 of the 2 before.")
    expect(part).to_contain_text(f"Differs from the call that {owner.username} approved")
    (row,) = part.get_by_role("listitem").all()
    expect(row).to_contain_text("name changed")
    expect(row).to_contain_text('"release‹U+202E RLO›-1"')
    expect(part.get_by_role("button", name="Make a rule…")).to_have_count(0)
    part.get_by_role("link", name="Open that call").click()
    expect(page).to_have_url(re.compile(f"/requests/{first}$"))


def test_the_same_arguments_are_said_to_be_the_same_and_a_way_out_is_named(
    owner: ThreadsClient, person: Person
) -> None:
    decided(owner, "alike", "accept", "accept", "accept")
    page = person.opens(f"/requests/{waiting(owner, 'alike')}")
    part = page.get_by_role("region", name="Calls like this one")
    expect(part).to_contain_text("The 4th call like this. People approved 3 of the 3 before.")
    expect(part).to_contain_text(f"Same arguments as the call that {owner.username} approved")
    expect(part).to_contain_text("To stop being asked, open “Remember”")


def test_a_rule_is_seen_with_its_replay_before_it_is_saved(admin: ThreadsClient, visit: Visit) -> None:
    decided(admin, "ruled", "accept", "accept", "accept")
    before = _versions(admin.http)
    request_id = waiting(admin, "ruled")
    page = visit(admin).opens(f"/requests/{request_id}")
    page.get_by_role("button", name="Make a rule…").click()
    dialog = page.get_by_role("dialog", name="A rule for calls like this one")
    expect(dialog).to_contain_text('args["name"] == "ruled"')
    expect(dialog.get_by_role("row", name=re.compile("^approved allowed"))).to_be_visible()
    assert _versions(admin.http) == before
    dialog.get_by_role("button", name="Save as a version").click()
    activate = dialog.get_by_role("button", name=re.compile("^Activate version"))
    activate.wait_for()
    assert len(_versions(admin.http)) == len(before) + 1
    assert "interrupt" in _called(admin, "ruled")
    activate.click()
    expect(dialog).to_contain_text("counts for everything that is asked from now on")
    assert "interrupt" not in _called(admin, "ruled")
    assert "interrupt" in _called(admin, "other")
    dialog.get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name=re.compile("^Approve"))).to_be_visible()


def test_where_calls_have_too_little_in_common_no_rule_is_made(admin: ThreadsClient, visit: Visit) -> None:
    for name in ("one", "two", "three"):
        decided(admin, name, "accept")
    page = visit(admin).opens(f"/requests/{waiting(admin, 'four')}")
    page.get_by_role("button", name="Make a rule…").click()
    dialog = page.get_by_role("dialog", name="A rule for calls like this one")
    expect(dialog).to_contain_text("No rule can be drafted")
    expect(dialog.get_by_role("button", name="Save as a version")).to_have_count(0)


def _versions(http: httpx.Client) -> list[Any]:
    return http.get(POLICY).raise_for_status().json()["versions"]


def _called(client: ThreadsClient, name: str) -> list[str]:
    return client.chat(client.new_thread("puppet"), script(calls(("guarded", {"name": name})), says("done"))).events


def test_figures_stand_in_tables_beside_their_plots(owner: ThreadsClient, person: Person) -> None:
    decided(owner, "figures", "accept", "reject")
    page = person.opens("/history")
    page.get_by_role("link", name="Figures by week").click()
    expect(page.get_by_role("heading", level=1, name="Figures")).to_be_visible()
    expect(page.get_by_role("combobox", name="Person")).to_have_count(0)
    asks = page.get_by_role("region", name="What was asked").first
    expect(asks.get_by_role("row").last).to_contain_text(re.compile(r"2\s*0\s*0\s*0\s*2\s*0$"))
    share = page.get_by_role("region", name="Share of yes").first
    expect(share.get_by_role("row").last).to_contain_text(re.compile(r"50%\s*2\s*0$"))
    page.get_by_role("combobox", name="Weeks").select_option("4")
    expect(share.get_by_role("row")).to_have_count(5)


def test_an_admin_chooses_whose_figures_they_see(owner: ThreadsClient, admin: ThreadsClient, visit: Visit) -> None:
    decided(owner, "whose", "accept")
    page = visit(admin).opens("/figures")
    page.get_by_role("combobox", name="Person").select_option(owner.username)
    expect(page.get_by_text(f"Requests of {owner.username}’s own conversations")).to_be_visible()
    share = page.get_by_role("region", name="Share of yes").first
    expect(share.get_by_role("row").last).to_contain_text(re.compile(r"100%\s*1\s*0$"))


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_both_are_whole_on_a_phone_and_read_aloud(owner: ThreadsClient, visit: Visit, locale: str) -> None:
    decided(owner, "phone", "accept", "accept", "accept")
    request_id = waiting(owner, "phone-other")
    page = visit(owner, locale=locale, viewport=PHONE).opens("/inbox")
    inspector = Inspector(page)
    lead(page, f"/requests/{request_id}")
    expect(page.locator("[data-act=likeness]")).to_be_visible()
    inspector.looks("request")
    lead(page, "/figures")
    expect(page.get_by_role("img")).to_have_count(3)
    inspector.looks("figures")
    assert (inspector.faults, inspector.wide) == ({}, {})
