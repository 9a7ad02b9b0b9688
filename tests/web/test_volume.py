"""Requests with very much in them: only what is near the screen is drawn, and all of it can be read to its end."""

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.support import hitl
from tests.web.person import Person
from tests.web.reviewing import Review, opened

COUNT = 10_000
MOST_ELEMENTS = 5_000
ARGS = {f"argument_{number:05}": f"value {number}" for number in range(COUNT)}
TO_THE_END = "one => { one.scrollTop = one.scrollHeight; }"
# Page by page, as somebody does who reads: a page counts when something is drawn in its middle.
READ = """async (scroller, wanted) => {
  const found = new Set();
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const { top, left, height, width } = scroller.getBoundingClientRect();
  const take = () => {
    for (const one of scroller.querySelectorAll("dt, [data-lines] > div > div, [data-lines] > div"))
      for (const [name] of one.textContent.matchAll(/argument_\\d{5}/g)) found.add(name);
  };
  for (let frames = 0; frames < 5000 && found.size < wanted; frames += 1) {
    take();
    const middle = document.elementFromPoint(left + width / 2, top + height / 2);
    if (middle?.childElementCount !== 0 || middle.textContent !== "") scroller.scrollTop += height;
    await frame();
  }
  return found.size;
}"""


def asked(reviewer: Person, **others: Any) -> Review:
    with hitl.of(reviewer.client) as elsewhere:
        made = elsewhere.ask("permission", {"tool_name": "bulk", "args": {**others, **ARGS}})
    return opened(reviewer, made["request_id"])


def drawn(review: Review) -> int:
    return review.page.locator("[data-review]").evaluate("one => one.querySelectorAll('*').length")


def edited(review: Review) -> Locator:
    """The form is open; what scrolls."""
    review.press("e")
    expect(review.page.get_by_label("argument_00000", exact=True)).to_be_visible()
    return review.page.locator("[data-review] > div").first


@pytest.mark.parametrize("look", ["Arguments", "JSON"])
def test_ten_thousand_arguments_are_complete_though_few_are_drawn(reviewer: Person, look: str) -> None:
    review = asked(reviewer)
    review.shown.get_by_role("button", name=look).click()
    expect(review.shown).to_contain_text("argument_00000")
    assert drawn(review) < MOST_ELEMENTS
    scroller = review.page.locator("[data-review] > div").first
    assert scroller.evaluate(READ, COUNT) == COUNT
    assert drawn(review) < MOST_ELEMENTS


def test_of_ten_thousand_arguments_the_last_one_has_to_be_on_the_screen_before_a_yes(reviewer: Person) -> None:
    review = asked(reviewer)
    review.bar.get_by_text("lines left").wait_for()
    review.tries("Approve")
    review.is_open()
    scroller = review.page.locator("[data-review] > div").first
    scroller.evaluate(TO_THE_END)
    expect(review.bar.get_by_text("lines left")).to_have_count(0)
    expect(review.shown.get_by_text("argument_09999")).to_be_visible()
    expect(review.shown).to_contain_text("End10,000 arguments")
    assert drawn(review) < MOST_ELEMENTS
    review.chooses("Approve")
    review.ends("Approved at")


def test_of_ten_thousand_arguments_any_is_edited_though_few_fields_are_drawn(reviewer: Person) -> None:
    review = asked(reviewer)
    scroller = edited(review)
    assert drawn(review) < MOST_ELEMENTS
    scroller.evaluate(TO_THE_END)
    last = review.page.get_by_label("argument_09999", exact=True)
    last.fill("another value")
    assert drawn(review) < MOST_ELEMENTS
    review.goes_through_the_edit()
    review.chooses("Approve edited call")
    review.ends("as you edited it.")
    assert review.sent[0]["value"]["args"] == {**ARGS, "argument_09999": "another value"}


def test_a_list_of_ten_thousand_items_is_edited_though_few_fields_are_drawn(reviewer: Person) -> None:
    items = [f"item {number}" for number in range(COUNT)]
    with hitl.of(reviewer.client) as elsewhere:
        made = elsewhere.ask("permission", {"tool_name": "bulk", "args": {"items": items}})
    review = opened(reviewer, made["request_id"])
    review.press("e")
    review.page.get_by_label("items 1", exact=True).fill("changed")
    assert drawn(review) < MOST_ELEMENTS
    review.page.locator("[data-review] > div").first.evaluate(TO_THE_END)
    review.page.get_by_role("button", name="Add an item").click()
    review.page.get_by_label("items 10001", exact=True).fill("one more")
    # The call before had ten thousand other arguments: of what differs, the page lists the beginning.
    expect(review.page.locator("[data-act=likeness]")).to_contain_text("more arguments differ")
    assert drawn(review) < MOST_ELEMENTS
    review.goes_through_the_edit()
    review.chooses("Approve edited call")
    review.ends("as you edited it.")
    assert review.sent[0]["value"]["args"] == {"items": ["changed", *items[1:], "one more"]}


def test_json_that_cannot_be_read_is_not_forgotten_out_of_sight(reviewer: Person) -> None:
    """What is far from the screen is not drawn; but what was typed there, and that it does not do, stays."""
    review = asked(reviewer, anything=None)
    scroller = edited(review)
    editor = review.page.get_by_role("textbox", name="JSON of anything")
    editor.click()
    review.press("Control+a")
    review.page.keyboard.type('{"half": ')
    expect(review.page.get_by_text("Not valid JSON.")).to_be_visible()
    scroller.evaluate(TO_THE_END)
    last = review.page.get_by_label("argument_09999", exact=True)
    last.fill("another value")
    expect(review.bar).to_contain_text("The edited arguments are not valid yet.")
    review.tries("Approve edited call")
    scroller.evaluate("one => { one.scrollTop = 0; }")
    expect(editor).to_contain_text('{"half":')
    review.is_open()
