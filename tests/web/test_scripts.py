"""Letters of all scripts, and pictures among them: shown as they are written, and nothing moves for them."""

import pytest
from playwright.sync_api import Locator, expect

from tests.web.person import Person
from tests.web.reviewing import asks, opened

# Each letter of a text, from left to right as it is drawn.
DRAWN = """(part, text) => {
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  const all = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    for (let place = 0; place < node.data.length; place += 1) all.push([node, place]);
  const from = all.map(([node, place]) => node.data[place]).join("").indexOf(text);
  const left = ([node, place]) => {
    const range = document.createRange();
    range.setStart(node, place);
    range.setEnd(node, place + 1);
    return range.getBoundingClientRect().left;
  };
  const own = all.slice(from, from + text.length).map((one) => [left(one), one[0].data[one[1]]]);
  return own.sort((one, other) => one[0] - other[0]).map(([, letter]) => letter).join("");
}"""


def drawn(part: Locator, text: str) -> str:
    return part.evaluate(DRAWN, text)


@pytest.mark.parametrize("look", ["Arguments", "JSON"])
def test_words_from_right_to_left_can_be_read_and_move_nothing_around_them(reviewer: Person, look: str) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="rm \u05d0\u05d1\u05d2/\u05d3\u05d4 12 \u0645\u0631/x"))
    review.shown.get_by_role("button", name=look).click()
    expect(review.shown).to_contain_text("rm ")
    text = "rm \u05d0\u05d1\u05d2/\u05d3\u05d4 12 \u0645\u0631/x"
    assert drawn(review.shown, text) == "rm \u05d2\u05d1\u05d0/\u05d4\u05d3 12 \u0631\u0645/x"


def test_a_command_keeps_its_order_whatever_its_letters(reviewer: Person) -> None:
    text = "echo \u05d0\u05d1 > \u05d2\u05d3.txt"
    review = opened(reviewer, asks(reviewer, "execute", command=text))
    expect(review.shown).to_contain_text("echo ")
    assert drawn(review.shown, text) == "echo \u05d1\u05d0 > \u05d3\u05d2.txt"


def test_what_makes_a_sign_a_picture_is_no_hidden_character_and_elsewhere_it_is(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="\u26a0\ufe0f 1\ufe0f\u20e3 \u2764\ufe0f"))
    expect(review.shown).to_contain_text("\u26a0\ufe0f 1\ufe0f\u20e3 \u2764\ufe0f")
    expect(review.shown).not_to_contain_text("hidden character")
    review = opened(reviewer, asks(reviewer, "guarded", name="rm\ufe0f x"))
    expect(review.shown).to_contain_text("rm\u2039U+FE0F\u203a x")
    expect(review.shown).to_contain_text("1 hidden character")
