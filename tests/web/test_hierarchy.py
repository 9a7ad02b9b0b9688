"""What the eye is led to: one filled button at most, rows that say what matters, and where to go on after an answer."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.hitl import CHOICE, QUESTION, HitlClient, of
from tests.support.inbox import answer, asked, told, view
from tests.support.threads import ThreadsClient
from tests.web.conftest import Visit
from tests.web.person import Person
from tests.web.reviewing import asks, opened
from tests.web.stage import shown

# Filled with the colour that acts have.
FILLED = """() => {
  const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
  const drawn = document.createElement("i");
  drawn.style.color = accent;
  document.body.append(drawn);
  const colour = getComputedStyle(drawn).color;
  drawn.remove();
  return [...document.querySelectorAll("button, a")].filter(
    (one) => one.checkVisibility() && getComputedStyle(one).backgroundColor === colour).map((one) => one.innerText);
}"""


LINE = 20
"""The height of a line, of which the first one counts."""


def filled(page: Page) -> list[str]:
    return [re.sub(r"\s.*", "", words, flags=re.DOTALL) for words in page.evaluate(FILLED)]


def test_one_button_is_filled_where_one_act_is_meant_and_none_at_high_risk(reviewer: Person) -> None:
    medium = opened(reviewer, asks(reviewer, "guarded", name="one act"))
    assert filled(medium.page) == ["Approve"]
    high = opened(reviewer, asks(reviewer, "execute", command="rm -r ."))
    high.types_code()
    expect(high.button("Approve")).not_to_have_attribute("aria-disabled", "true")
    assert filled(high.page) == []


def test_what_is_off_is_not_filled(reviewer: Person) -> None:
    command = "\n".join(f"line {number}" for number in range(200))
    review = opened(reviewer, asks(reviewer, "guarded", name=command))
    expect(review.bar).to_contain_text("left")
    assert filled(review.page) == []


def test_rows_say_the_command_the_file_and_the_amount_instead_of_quoted_json(
    owner: ThreadsClient, visit: Visit
) -> None:
    asked(owner, ("execute", {"command": "npm ci"}), ("pay", {"amount": 249.5, "to": "ann"}))
    with of(owner) as outside:
        outside.ask("permission", {"tool_name": "shell", "args": {"command": ["git", "log", "a b"]}})
    told(owner, "create summed.py", "demo")
    page = visit(owner).opens()
    rows = page.get_by_role("listitem")
    expect(rows.filter(has_text="npm ci")).to_contain_text("execute npm ci")
    expect(rows.filter(has_text="shell")).to_contain_text("shell git log 'a b'")
    expect(rows.filter(has_text="249.5")).to_contain_text("pay 249.5 → ann")
    expect(rows.filter(has_text="summed.py")).to_contain_text("write_file summed.py")


def test_a_short_name_in_a_row_takes_no_more_room_than_its_letters(owner: ThreadsClient, visit: Visit) -> None:
    with of(owner) as person:
        key = person.new_key("ci", "agent")["key"]
    with HitlClient(str(owner.http.base_url), key) as agent:
        agent.ask("permission", {"tool_name": "deploy", "args": {"to": "staging"}})
    name = visit(owner).opens().get_by_role("listitem").get_by_text("ci", exact=True)
    spare = """one => {
      const letters = document.createRange();
      letters.selectNodeContents(one);
      return one.getBoundingClientRect().width - letters.getBoundingClientRect().width;
    }"""
    assert name.evaluate(spare) < 1


def test_the_link_to_a_conversation_repeats_no_call_and_keeps_a_title_of_its_own(
    owner: ThreadsClient, visit: Visit
) -> None:
    with of(owner) as outside:
        plain = outside.ask("permission", {"tool_name": "deploy", "args": {"to": "staging"}})
    (entry,) = told(owner, "create titled.py", "demo")
    page = visit(owner).opens(f"/requests/{plain['request_id']}")
    way = page.get_by_role("list", name="About this request").get_by_role("link")
    expect(way).to_have_text("Conversation")
    shown(page, f"/requests/{entry['request_id']}")
    expect(way).to_have_text("in “create titled.py”")


def test_remember_is_folded_and_says_what_is_chosen(owner: ThreadsClient, visit: Visit) -> None:
    (entry,) = asked(owner, ("guarded", {"name": "folded"}))
    folded = visit(owner).opens(f"/requests/{entry['request_id']}").locator("details[data-remember]")
    expect(folded.locator("summary")).to_have_text("Remember: Only this time")
    expect(folded.get_by_role("radio").first).not_to_be_visible()
    folded.locator("summary").click()
    expect(folded.get_by_role("radio").first).to_be_checked()


def middle(one: Locator) -> tuple[float, float]:
    box = one.bounding_box()
    assert box
    return box["x"], box["y"] + box["height"] / 2


@pytest.mark.parametrize("kind", ["decision", "clarification", "remember", "many"])
def test_radios_stand_under_each_other_and_beside_their_words(owner: ThreadsClient, visit: Visit, kind: str) -> None:
    page = visit(owner).opens()
    if kind == "remember":
        (entry,) = asked(owner, ("guarded", {"name": "aligned"}))
        request_id = entry["request_id"]
    else:
        asked_for: dict[str, Any] = {**CHOICE} if kind == "decision" else {**QUESTION, "allow_custom": True}
        if kind == "many":
            asked_for["options"] = [f"option {number}" for number in range(1, 13)]
        with of(owner) as outside:
            request_id = outside.ask("decision" if kind == "decision" else "clarification", asked_for)["request_id"]
    shown(page, f"/requests/{request_id}")
    if kind == "remember":
        page.locator("summary", has_text="Remember").click()
    radios = page.locator("[data-review] label:has(input[type=radio])").all()
    assert len(radios) > 1
    assert len({middle(one.get_by_role("radio"))[0] for one in radios}) == 1
    beginnings: set[float] = set()
    for one in radios:
        words = one.locator("> span:not([aria-hidden])").bounding_box()
        assert words
        beginnings.add(words["x"])
        assert abs(middle(one.get_by_role("radio"))[1] - (words["y"] + LINE / 2)) <= 1.5
    assert len(beginnings) == 1


def test_an_option_is_told_once(owner: ThreadsClient, visit: Visit) -> None:
    twins = [{"key": "now", "label": "Go on"}, {"key": "later", "label": "Go on"}]
    with of(owner) as outside:
        once = outside.ask("decision", CHOICE)["request_id"]
        alike = outside.ask("decision", {**CHOICE, "options": twins})["request_id"]
    page = visit(owner).opens(f"/requests/{once}")
    expect(page.get_by_text("Leave it", exact=True)).to_have_count(1)
    expect(page.get_by_text("cancel", exact=True)).to_have_count(0)
    # Where labels do not tell options apart, what the agent gets does.
    shown(page, f"/requests/{alike}")
    for key in ("now", "later"):
        expect(page.get_by_text(key, exact=True)).to_have_count(1)


def test_a_receipt_leads_to_the_next_request_that_waits(owner: ThreadsClient, visit: Visit) -> None:
    first, second = (asked(owner, ("guarded", {"name": name}))[0]["request_id"] for name in ("one", "two"))
    person = visit(owner)
    person.takes_the_clock()
    review = opened(person, first)
    review.chooses("Approve")
    review.ends("Approved at")
    following = review.page.get_by_role("link", name="Next request (1 waiting)")
    expect(following).to_be_visible()
    review.later()
    following.click()
    expect(review.page).to_have_url(re.compile(second))
    follow = opened(person, second)
    follow.chooses("Approve")
    follow.ends("Nothing else is waiting.")


def test_the_agents_words_and_the_tools_own_are_told_apart(owner: ThreadsClient, visit: Visit) -> None:
    (entry,) = told(owner, "create words.md", "demo")
    page = visit(owner).opens(f"/requests/{entry['request_id']}")
    said = page.get_by_role("region", name="What the agent said, not checked")
    expect(said).to_contain_text("I'll write words.md. Please confirm it first.")
    own = page.get_by_role("region", name="The tool’s own description")
    expect(own).to_contain_text("Create a text file in the workspace")
    expect(page.get_by_text("Written by the agent, not checked")).to_have_count(0)


def test_a_settled_card_says_what_was_asked_and_by_whom_it_was_answered(owner: ThreadsClient, visit: Visit) -> None:
    (entry,) = asked(owner, ("guarded", {"name": "settled card"}))
    answer(owner, entry["request_id"], {"decision": "reject", "message": "no"}).raise_for_status()
    page = visit(owner).opens(f"/chat/{entry['conversation_id']}")
    expect(page.get_by_text("guarded settled card", exact=True)).to_be_visible()
    expect(page.get_by_text("You refused this at")).to_be_visible()
    assert view(owner, entry["request_id"])["status"] == "answered"


def stands_before(page: Page, first: Locator, then: Locator) -> None:
    """From top to bottom, and for who has it read to them."""
    expect(first).to_be_visible()
    expect(then).to_be_visible()
    assert middle(first)[1] < middle(then)[1]
    following = "([one, other]) => (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0"
    assert page.evaluate(following, [first.element_handle(), then.element_handle()])


def test_a_question_stands_before_its_result_live_and_after_a_reload(owner: ThreadsClient, visit: Visit) -> None:
    (entry,) = asked(owner, ("guarded", {"name": "in order"}))
    page = visit(owner).opens(f"/chat/{entry['conversation_id']}")
    expect(page.locator("[data-asked=open]").get_by_role("button", name="Approve")).to_be_visible()
    answer(owner, entry["request_id"], {"decision": "accept"}).raise_for_status()
    owner.wait_for_rest(entry["conversation_id"])
    result = page.locator("section[data-state=done]").filter(has_text="Result").get_by_text("done in order")
    stands_before(page, page.locator("[data-asked=settled]"), result)
    page.reload()
    stands_before(page, page.get_by_text("You approved this at"), result)


def test_what_a_tool_asks_while_it_runs_stands_before_its_result_too(owner: ThreadsClient, visit: Visit) -> None:
    call = ("request_clarification", {"question": "Which way?", "options": ["left", "right"]})
    (entry,) = asked(owner, call)
    page = visit(owner).opens(f"/chat/{entry['conversation_id']}")
    expect(page.locator("[data-asked=open]").get_by_role("button", name="Send")).to_be_visible()
    expect(page.locator("section[data-state=waiting]")).to_have_count(0)
    answer(owner, entry["request_id"], {"answer": "left"}).raise_for_status()
    owner.wait_for_rest(entry["conversation_id"])
    result = page.locator("section[data-state=done]").filter(has_text="request_clarification").get_by_text("Result")
    stands_before(page, page.locator("[data-asked=settled]"), result)
    page.reload()
    stands_before(page, page.get_by_text("You answered this at"), result)


# All around it, in the colour that is for the edges of fields.
HEAVY = """() => {
  const drawn = document.createElement("i");
  drawn.style.color = "var(--line)";
  document.body.append(drawn);
  const colour = getComputedStyle(drawn).color;
  drawn.remove();
  const isHeavy = (one) => {
    const style = getComputedStyle(one);
    const sides = ["Top", "Right", "Bottom", "Left"];
    return sides.every((side) => style[`border${side}Width`] !== "0px" && style[`border${side}Color`] === colour);
  };
  return [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility() && isHeavy(one)).map(
    (one) => one.tagName.toLowerCase());
}"""
FIELDS = {"input", "select", "textarea"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_only_fields_have_a_dark_line_all_around_them(owner: ThreadsClient, visit: Visit, scheme: str) -> None:
    """What is known by its words has a pale edge: what stands in it is seen first."""
    (entry,) = asked(owner, ("guarded", {"name": "calm"}))
    answer(owner, asked(owner, ("guarded", {"name": "done"}))[0]["request_id"], {"decision": "accept"})
    page = visit(owner, color_scheme=scheme).opens("/inbox")
    request, talk = f"/requests/{entry['request_id']}", f"/chat/{entry['conversation_id']}"
    for path in ("/inbox", request, talk, "/chat", "/history", "/settings/account", "/settings/keys"):
        shown(page, path)
        assert set(page.evaluate(HEAVY)) <= FIELDS, path
    shown(page, "/history")
    assert FIELDS & set(page.evaluate(HEAVY))


def test_every_page_has_our_own_mark_and_the_tab_the_same(owner: ThreadsClient, visit: Visit) -> None:
    page = visit(owner).opens("/inbox")
    mark = page.get_by_role("banner").get_by_role("link", name="Interlock").locator("svg")
    shape = "one => [...one.querySelectorAll('path')].map((path) => path.getAttribute('fill'))"
    halves = mark.evaluate(shape)
    assert len(halves) == 2
    assert len(set(halves)) == 2
    expect(mark).not_to_have_class(re.compile("lucide"))
    for path in ("/history", "/settings/account", "/nowhere"):
        page.goto(path)
        expect(mark).to_be_visible()
    tab = page.request.get(page.locator("link[rel=icon]").get_attribute("href") or "")
    assert tab.headers["content-type"].startswith("image/svg+xml")
    assert tab.text().count("<path") == len(halves)
    page.context.clear_cookies()
    page.goto("/login")
    expect(page.get_by_text("Interlock", exact=True).locator("svg path")).to_have_count(len(halves))
