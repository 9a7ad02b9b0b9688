"""Groups: what the list shows of what is put to them, and the pages that manage them and say who is away."""

import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.hitl import PERMISSION
from tests.support.people import FIRST, People
from tests.support.threads import ThreadsClient
from tests.web.conftest import Visit
from tests.web.inspecting import Inspector

GROUPS, AWAY = "/api/v1/groups", "/api/v1/away"
PAYER, BOB, CYD = "group-payer", "group-bob", "group-cyd"


@pytest.fixture(scope="module")
def root(people: People) -> ThreadsClient:
    """The admin, with three people more."""
    for name in (PAYER, BOB, CYD):
        people.named(name)
    return people.named(FIRST)


Put = Callable[..., str]


@pytest.fixture
def put(people: People, root: ThreadsClient) -> Put:
    """Something that the payer's program asks somebody; its id."""

    def put(path: str, *candidates: str, people_needed: int = 1) -> str:
        data = {**PERMISSION, "risk_level": "low", "action": path, "args": {"path": path}}
        needs = {"people": people_needed, "from": list(candidates)}
        body = {"type": "permission", "request_data": data, "needs": needs}
        asked = people.named(PAYER).http.post("/api/v1/agent/hitl/requests", json=body).raise_for_status()
        return asked.json()["data"]["request_id"]

    return put


def made(root: ThreadsClient, *members: str) -> str:
    name = f"g-{uuid.uuid4().hex[:6]}"
    root.http.post(GROUPS, json={"name": name, "members": list(members)}).raise_for_status()
    return name


def row(page: Page, text: str) -> Locator:
    return page.get_by_role("main").get_by_role("listitem").filter(has_text=text)


def test_the_list_shows_votes_and_who_has_it_and_is_narrowed_to_whose_it_is(
    root: ThreadsClient, people: People, put: Put, visit: Visit
) -> None:
    mine, two = made(root, BOB), made(root, BOB, CYD)
    other = made(root, CYD)
    voted = put("/tmp/voted", f"group:{two}", people_needed=2)
    put("/tmp/mine", f"group:{mine}")
    put("/tmp/other", f"group:{other}")
    page = visit(people.named(BOB)).opens()
    expect(row(page, "/tmp/voted")).to_contain_text("0/2")
    expect(row(page, "/tmp/mine")).not_to_contain_text("0/")
    # What is put to people by name is read on its own.
    expect(row(page, "/tmp/mine").get_by_role("checkbox")).to_have_count(0)
    expect(row(page, "/tmp/other")).to_have_count(0)
    cyd = people.named(CYD).http
    shown = cyd.get(f"/api/v1/inbox/requests/{voted}").raise_for_status().json()
    cyd.post(f"/api/v1/inbox/requests/{voted}/claim").raise_for_status()
    expect(row(page, "/tmp/voted")).to_contain_text(f"{CYD} has it")
    key = {"idempotency-key": str(uuid.uuid4())}
    yes = {"value": {"decision": "accept"}, "digest": shown["digest"], "code": shown["code"]}
    cyd.post(f"/api/v1/inbox/requests/{voted}/answer", json=yes, headers=key).raise_for_status()
    expect(row(page, "/tmp/voted")).to_contain_text("1/2")

    whose = page.get_by_label("Whose")
    whose.select_option(label=f"For {mine}")
    expect(row(page, "/tmp/voted")).to_have_count(0)
    expect(row(page, "/tmp/mine")).to_be_visible()
    assert f"For {other}" not in whose.inner_text()
    # Under the filter, too, what is asked now comes by itself; and in the address it can be kept.
    put("/tmp/later", f"group:{mine}")
    put("/tmp/elsewhere", f"group:{two}")
    page.get_by_role("button", name="1 new · show").click()
    expect(row(page, "/tmp/later")).to_be_visible()
    page.reload()
    expect(row(page, "/tmp/later")).to_be_visible()
    expect(row(page, "/tmp/elsewhere")).to_have_count(0)
    whose.select_option(label="Claimed by me")
    expect(page.get_by_text("No matches.")).to_be_visible()
    row_id = put("/tmp/taken", f"group:{mine}")
    people.named(BOB).http.post(f"/api/v1/inbox/requests/{row_id}/claim").raise_for_status()
    expect(row(page, "/tmp/taken")).to_contain_text("You have it")
    whose.select_option(label="For me")
    expect(row(page, "/tmp/elsewhere")).to_be_visible()


def test_an_admin_makes_changes_and_deletes_a_group(root: ThreadsClient, visit: Visit) -> None:
    name = f"made-{uuid.uuid4().hex[:6]}"
    page = visit(root).opens("/settings/groups")
    page.get_by_role("button", name="New group…").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Name")).to_be_focused()
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("Members").fill(f"{BOB}\nnobody-at-all")
    dialog.get_by_role("button", name="Create").press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Check the names")
    dialog.get_by_label("Members").fill(f"{BOB}\n")
    dialog.get_by_role("button", name="Create").press("Enter")
    expect(dialog).to_have_count(0)
    expect(row(page, name)).to_contain_text(BOB)
    page.get_by_role("button", name="New group…").press("Enter")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_role("button", name="Create").press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("a group of this name already")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name=f"Change members: {name}").press("Enter")
    expect(dialog.get_by_label("Members")).to_have_value(BOB)
    dialog.get_by_label("Members").fill(f"{CYD}\n{PAYER}")
    dialog.get_by_role("button", name="Save").press("Enter")
    expect(row(page, name)).to_contain_text("2 people")
    assert members_of(root, name) == [CYD, PAYER]
    page.get_by_role("button", name=f"Delete: {name}").press("Enter")
    dialog.get_by_role("button", name="Delete this group").press("Enter")
    expect(row(page, name)).to_have_count(0)
    assert members_of(root, name) is None


def members_of(client: ThreadsClient, name: str) -> list[str] | None:
    found: list[dict[str, Any]] = client.http.get(GROUPS).raise_for_status().json()["groups"]
    return next((one["members"] for one in found if one["name"] == name), None)


def test_others_see_groups_and_change_none(root: ThreadsClient, people: People, visit: Visit) -> None:
    name = made(root, BOB)
    page = visit(people.named(CYD)).opens("/settings/groups")
    expect(row(page, name)).to_contain_text(BOB)
    expect(page.get_by_text("Only admins change groups.")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("button")).to_have_count(0)


def test_somebody_says_when_they_are_away_and_who_stands_in(people: People, root: ThreadsClient, visit: Visit) -> None:
    bob = people.named(BOB)
    page = visit(bob, timezone_id="Asia/Shanghai").opens("/settings/away")
    expect(page.locator("[data-act=away]")).to_have_text("You are not away.")
    start = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(hours=1)
    end = start + timedelta(days=2)
    # By the clock of whoever looks at the page.
    local = [f"{time + timedelta(hours=8):%Y-%m-%dT%H:%M}" for time in (start, end)]
    page.get_by_label("From").fill(local[1])
    page.get_by_label("Until").fill(local[0])
    page.get_by_label("Stand-in").fill("nobody-at-all")
    save = page.get_by_role("button", name="Save")
    save.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("after the beginning")
    page.get_by_label("From").fill(local[0])
    page.get_by_label("Until").fill(local[1])
    save.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("nobody of this name")
    page.get_by_label("Stand-in").fill(CYD)
    save.press("Enter")
    expect(page.locator("[data-act=away]")).to_contain_text(f"{CYD} is asked in your place.")
    set_now = bob.http.get(AWAY).raise_for_status().json()["away"]
    assert [datetime.fromisoformat(set_now[name]) for name in ("from", "until")] == [start, end]
    assert set_now["to"] == CYD
    page.get_by_role("button", name="I am back").press("Enter")
    expect(page.locator("[data-act=away]")).to_have_text("You are not away.")
    expect(page.locator("[data-act=away]")).to_be_focused()
    assert bob.http.get(AWAY).raise_for_status().json()["away"] is None


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_axe_finds_nothing_and_nothing_is_too_wide(
    root: ThreadsClient, people: People, put: Put, visit: Visit, locale: str
) -> None:
    group = made(root, BOB, CYD)
    request_id = put("/tmp/a", f"group:{group}", people_needed=2)
    people.named(CYD).http.post(f"/api/v1/inbox/requests/{request_id}/claim").raise_for_status()
    away = {"from": "2020-01-01T00:00:00Z", "until": "2100-01-01T00:00:00Z", "to": CYD}
    people.named(PAYER).http.put(AWAY, json=away).raise_for_status()
    listed = visit(people.named(BOB), locale=locale).opens(f"/inbox?for=group%3A{group}")
    managed = visit(root, locale=locale).opens("/settings/groups")
    absent = visit(people.named(PAYER), locale=locale).opens("/settings/away")
    inspectors = [Inspector(page) for page in (listed, managed, absent)]
    expect(row(listed, "/tmp/a")).to_contain_text("0/2")
    expect(absent.locator("[data-act=away]")).to_contain_text(CYD)
    expect(row(managed, group)).to_be_visible()
    for inspector in inspectors:
        inspector.looks("page")
    buttons = managed.get_by_role("main").get_by_role("button")
    for button in (buttons.filter(has_text=re.compile("…$")), row(managed, group).get_by_role("button").last):
        button.click()
        expect(managed.get_by_role("dialog")).to_be_visible()
        inspectors[1].looks("dialog")
        managed.keyboard.press("Escape")
    assert [one.faults for one in inspectors] == [{}, {}, {}]
    assert [one.wide for one in inspectors] == [{}, {}, {}]
