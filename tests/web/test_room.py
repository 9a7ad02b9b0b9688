"""Where there is little room: names as long as they may be, a zoom of 200%, and the keyboard of a phone."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.hitl import HitlClient, of
from tests.support.inbox import answer, asked, view
from tests.support.people import FIRST, People
from tests.support.threads import ThreadsClient
from tests.web.conftest import Visit
from tests.web.inspecting import WIDE
from tests.web.person import DESKTOP, PHONE, Person
from tests.web.reviewing import asks, opened, waits
from tests.web.stage import shown

LONGEST = "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww"
"""A name of 62 letters: with a number behind it, as long as names may be."""
ZOOMED = {"width": 640, "height": 400}
"""What is left of 1280 × 800 at 200%."""
TABLET = {"width": 768, "height": 1024}
WITH_KEYBOARD = {"width": PHONE["width"], "height": 360}
# What runs out of the window, but for what is cut with a sign.
SPILT = """() => {
  const isCut = (one) => getComputedStyle(one).textOverflow === "ellipsis";
  const around = (one) => (one && !isCut(one) ? around(one.parentElement) : one);
  const seen = [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility() && one.innerText?.trim());
  const right = (one) => (around(one) ?? one).getBoundingClientRect().right;
  return seen.filter((one) => right(one) > innerWidth + 1).map(
    (one) => `${one.tagName} ${one.className} ${Math.round(right(one))} ${one.innerText.slice(0, 40)}`);
}"""


# A heading whose words run out of it is no wider itself.
CUT = """() => [...document.querySelectorAll("dialog[open], dialog[open] h2")].filter(
  (one) => one.scrollWidth > one.clientWidth).map((one) => `${one.tagName} ${one.scrollWidth}>${one.clientWidth}`)"""


@pytest.fixture(scope="module")
def long_named(people: People) -> ThreadsClient:
    return people.named(f"{LONGEST}01")


@pytest.fixture(scope="module")
def long_pages(long_named: ThreadsClient) -> dict[str, str]:
    """Everything that can have a name has one of the longest."""
    with of(long_named) as owner:
        key = owner.new_key(f"{LONGEST}02", "agent")["key"]
    with HitlClient(str(long_named.http.base_url), key) as agent:
        tool = {"tool_name": LONGEST * 2, "args": {LONGEST: LONGEST}, "description": LONGEST}
        request_ids = {
            "call": agent.ask("permission", tool)["request_id"],
            "settled": agent.ask("permission", {**tool, "tool_name": LONGEST})["request_id"],
            "values": agent.ask("env_var", {"fields": [{"name": LONGEST}, {"name": "B", "sensitive": False}]})[
                "request_id"
            ],
            "choice": agent.ask("decision", {"title": LONGEST, "options": [LONGEST, "b"]})["request_id"],
        }
    kept = {"duration": "forever", "scope": "this_tool"}
    answer(long_named, request_ids["settled"], {"decision": "accept"}, remember=kept).raise_for_status()
    (entry,) = asked(long_named, ("guarded", {"name": LONGEST}))
    return {
        "inbox": "/inbox",
        **{name: f"/requests/{request_id}" for name, request_id in request_ids.items()},
        "conversation": f"/chat/{entry['conversation_id']}",
        "history": "/history",
        **{section: f"/settings/{section}" for section in ("grants", "keys", "agents")},
    }


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_the_longest_names_fit_a_phone(
    long_named: ThreadsClient, long_pages: dict[str, str], visit: Visit, locale: str
) -> None:
    page = visit(long_named, viewport=PHONE, locale=locale).opens()
    faults: dict[str, Any] = {}
    for name, path in long_pages.items():
        shown(page, path)
        if found := [*page.evaluate(WIDE), *page.evaluate(SPILT)]:
            faults[name] = found
    page.get_by_role("button", name="More" if locale == "en-GB" else "更多").click()
    if found := [*page.evaluate(WIDE), *page.evaluate(SPILT), *page.evaluate(CUT)]:
        faults["account"] = found
    assert faults == {}


def test_the_longest_names_leave_the_bar_of_a_desktop_its_acts(long_named: ThreadsClient, visit: Visit) -> None:
    page = visit(long_named, viewport=TABLET).opens()
    for act in ("Shortcuts", "account and more"):
        box = page.get_by_role("banner").get_by_role("button", name=act).bounding_box()
        assert box
        assert 0 < box["x"] < box["x"] + box["width"] <= 768


def seen_of(page: Page, part: Locator) -> float:
    """How many pixels of it can be read: within the window and what scrolls it, and above what covers it."""
    return part.evaluate(
        """(part) => {
          const scroller = part.closest('[class*="scroller"]').getBoundingClientRect();
          const bar = part.querySelector("[data-bar]");
          const covered = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
          const { top, bottom } = part.getBoundingClientRect();
          return Math.min(bottom, scroller.bottom - covered) - Math.max(top, scroller.top);
        }"""
    )


def test_at_200_percent_half_of_the_window_is_left_for_a_request_in_its_conversation(
    owner: ThreadsClient, visit: Visit
) -> None:
    (entry,) = asked(owner, ("execute", {"command": "\n".join(f"echo {number}" for number in range(60))}))
    page = visit(owner, viewport=ZOOMED).opens(f"/chat/{entry['conversation_id']}")
    request = page.locator("[data-asked=open]")
    expect(request.get_by_role("button", name="Approve")).to_be_attached()
    page.get_by_role("button", name="Go to the request").click()
    assert seen_of(page, request) >= ZOOMED["height"] / 2
    request.get_by_role("button", name="Refuse").scroll_into_view_if_needed()
    expect(request.get_by_role("button", name="Refuse")).to_be_in_viewport()


# Wherever the conversation is scrolled to: which requests show their bar over what would run.
COVERED = """() => {
  const scroller = document.querySelector('[data-asked]').closest('[class*="scroller"]');
  const found = new Set();
  for (let place = 0; place <= scroller.scrollHeight; place += 20) {
    scroller.scrollTop = place;
    for (const one of document.querySelectorAll("[data-asked=open]")) {
      const bar = one.querySelector("[data-bar]").getBoundingClientRect();
      const run = one.querySelector("[data-act=run]").getBoundingClientRect();
      if (bar.top < run.top + 40) found.add(one.querySelector("[data-review]").dataset.review);
    }
  }
  return [...found];
}"""


def test_the_bar_of_a_request_in_a_conversation_is_never_all_that_is_seen_of_it(
    owner: ThreadsClient, visit: Visit
) -> None:
    entries = asked(owner, *(("guarded", {"name": name}) for name in ("one", "two", "three")))
    page = visit(owner).opens(f"/chat/{entries[0]['conversation_id']}")
    expect(page.locator("[data-asked=open] [data-bar]")).to_have_count(3)
    assert page.evaluate(COVERED) == []


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_on_a_phone_a_conversation_that_waits_leaves_its_room_to_the_request(
    owner: ThreadsClient, visit: Visit, locale: str
) -> None:
    (entry,) = asked(owner, ("guarded", {"name": "small"}))
    page = visit(owner, viewport=PHONE, locale=locale).opens(f"/chat/{entry['conversation_id']}")
    form = page.locator("form[data-blocked=true]")
    expect(form.get_by_role("button")).to_have_count(2)
    assert [height < 100 for height in form.evaluate_all("all => all.map((one) => one.offsetHeight)")] == [True]
    answer(owner, entry["request_id"], {"decision": "reject"}).raise_for_status()
    expect(page.locator("form[data-blocked=false] textarea")).to_be_visible()


def test_at_768_pixels_neither_filters_nor_columns_take_the_room_of_what_is_read(
    owner: ThreadsClient, people: People, visit: Visit
) -> None:
    (entry,) = asked(owner, ("guarded", {"name": "read at length"}))
    answer(owner, entry["request_id"], {"decision": "reject"}, dwell_ms=59_000).raise_for_status()
    page = visit(people.named(FIRST), viewport=TABLET).opens("/inbox")
    expect(page.locator("main select")).to_have_count(4)
    search = page.get_by_role("searchbox").bounding_box()
    assert search
    assert search["width"] >= 200
    shown(page, "/history")
    row = page.get_by_role("listitem").filter(has_text="read at length").locator("summary")
    told = row.get_by_text("read at length").bounding_box()
    whole = row.bounding_box()
    assert told
    assert whole
    assert told["width"] > whole["width"] / 2


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_how_long_something_was_read_stays_on_one_line(
    owner: ThreadsClient, visit: Visit, viewport: dict[str, int]
) -> None:
    (entry,) = asked(owner, ("guarded", {"name": "read for long"}))
    answer(owner, entry["request_id"], {"decision": "reject"}, dwell_ms=59_000).raise_for_status()
    page = visit(owner, viewport=viewport).opens("/history")
    read = page.get_by_text("read for 59 s")
    assert read.evaluate("one => one.offsetHeight / parseFloat(getComputedStyle(one).lineHeight)") < 2


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_on_a_phone_the_code_and_the_yes_are_one_row_and_the_others_the_next(
    owner: ThreadsClient, visit: Visit, locale: str
) -> None:
    (entry,) = asked(owner, ("execute", {"command": "ls"}))
    page = visit(owner, viewport={"width": 390, "height": 844}, locale=locale).opens()
    shown(page, f"/requests/{entry['request_id']}")
    acts = ("code", "yes", "refuse", "edit", "reply")
    places = {act: page.locator(f"[data-bar] [data-act={act}]").bounding_box() for act in acts}
    rows = [round(place["y"] + place["height"] / 2) for place in places.values() if place]
    assert rows[0] == rows[1] < rows[2] == rows[3] == rows[4]


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_on_a_phone_the_ways_to_look_and_to_copy_are_one_row(owner: ThreadsClient, visit: Visit, locale: str) -> None:
    (entry,) = asked(owner, ("reprice", {"shown": "diff"}), agent="painter")
    page = visit(owner, viewport=PHONE, locale=locale).opens()
    shown(page, f"/requests/{entry['request_id']}")
    panel = page.locator("[data-act=run]")
    copy = panel.get_by_role("button", name="Copy" if locale == "en-GB" else "复制").bounding_box()
    looks = [one.bounding_box() for one in panel.locator("[aria-pressed]").all()]
    assert copy
    assert len(looks) == 3
    middles = {round(one["y"] + one["height"] / 2) for one in (copy, *looks) if one}
    assert len(middles) == 1


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_on_a_phone_the_sections_of_the_settings_are_one_field(people: People, visit: Visit, locale: str) -> None:
    page = visit(people.named(FIRST), viewport=PHONE, locale=locale).opens("/settings/preferences")
    field = page.locator("main nav select")
    expect(field).to_have_value("preferences")
    expect(field.locator("option")).to_have_count(13)
    expect(page.locator("main nav a")).to_have_count(0)
    field.select_option("people")
    expect(page).to_have_url(re.compile("/settings/people$"))
    expect(field).to_have_value("people")
    expect(page.get_by_role("heading", level=1)).to_have_text("People" if locale == "en-GB" else "人员")


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_on_a_phone_the_filters_of_the_history_are_shown_when_asked_for(
    owner: ThreadsClient, visit: Visit, locale: str
) -> None:
    page = visit(owner, viewport=PHONE, locale=locale).opens("/history")
    filters = page.get_by_role("search")
    expect(filters).to_be_hidden()
    toggle = page.get_by_role("main").get_by_role("button", name="Filters" if locale == "en-GB" else "筛选")
    toggle.click()
    filters.get_by_role("combobox").last.select_option("refused")
    expect(page).to_have_url(re.compile("outcome=refused"))
    toggle = page.get_by_role("main").get_by_role("button", name="Filters on" if locale == "en-GB" else "已筛选")
    toggle.click()
    expect(filters).to_be_hidden()
    page.set_viewport_size({"width": DESKTOP["width"], "height": DESKTOP["height"]})
    expect(filters).to_be_visible()
    expect(toggle).to_be_hidden()


def test_on_a_phone_the_shortcuts_are_read_from_their_beginning(owner: ThreadsClient, visit: Visit) -> None:
    page = visit(owner, viewport=PHONE).opens()
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Shortcuts").click()
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.get_by_role("heading", level=2)).to_be_in_viewport()
    assert dialog.evaluate("one => one.scrollHeight > one.clientHeight")


@pytest.mark.parametrize(("locale", "role"), [("en-GB", "Role: Owner"), ("zh-CN", "角色：普通用户")])
def test_on_a_phone_more_is_where_settings_are_and_who_one_is(
    owner: ThreadsClient, visit: Visit, locale: str, role: str
) -> None:
    page = visit(owner, viewport=PHONE, locale=locale).opens("/settings/agents")
    more = page.get_by_role("navigation").get_by_role("button", name="More" if locale == "en-GB" else "更多")
    expect(more).to_have_attribute("aria-current", "page")
    more.click()
    expect(page.get_by_role("dialog")).to_contain_text(role)


def test_on_a_phone_a_field_of_an_edit_shows_all_of_a_long_value(phone: Person) -> None:
    value = "Kiefer Holz GmbH, DE89 3704 0044 0532 0130 00"
    page = phone.opens(f"/requests/{asks(phone, 'guarded', name=value)}")
    page.locator("[data-act=edit]").wait_for()
    waits(page)
    page.keyboard.press("e")
    field = page.get_by_role("textbox", name="name")
    expect(field).to_have_value(value)
    assert field.evaluate("one => one.scrollHeight <= one.clientHeight")
    field.fill(value * 3)
    assert field.evaluate("one => one.scrollHeight <= one.clientHeight")


@pytest.fixture
def phone(browser: Browser, visit: Visit, owner: ThreadsClient) -> Person:
    person = visit(owner, viewport=PHONE, has_touch=True, is_mobile=True)
    person.takes_the_clock()
    return person


@pytest.mark.parametrize("place", ["request", "conversation"])
def test_the_code_can_be_read_while_it_is_typed_on_a_phone(phone: Person, place: str) -> None:
    command = "\n".join(f"echo {number}" for number in range(12))
    request_id = asks(phone, "execute", command=command)
    if place == "request":
        page = opened(phone, request_id).page
    else:
        page = phone.opens(f"/chat/{view(phone.client, request_id)['conversation_id']}")
    field = page.locator("[data-act=code]")
    field.wait_for()
    # Not under the bar, which lies over what scrolls.
    page.locator("[data-code]").evaluate("one => one.scrollIntoView({ block: 'center' })")
    page.locator("[data-obstacle=code]").wait_for()
    waits(page)
    field.focus()
    page.set_viewport_size({"width": WITH_KEYBOARD["width"], "height": WITH_KEYBOARD["height"]})
    code = page.locator("[data-code]")
    expect(field).to_be_focused()
    page.wait_for_function(
        """() => {
          const code = document.querySelector("[data-code]").getBoundingClientRect();
          const bar = document.querySelector("[data-bar]").getBoundingClientRect();
          const field = document.querySelector("[data-act=code]").getBoundingClientRect();
          return code.top >= 0 && code.bottom <= bar.top && field.top >= 0 && field.bottom <= innerHeight;
        }"""
    )
    expect(code).to_be_in_viewport()
