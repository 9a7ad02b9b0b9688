"""What a graph asks without saying what it takes, in the page: all of it is shown, and the page says what is sent."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.inbox import asked
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness
from tests.web.conftest import Visit
from tests.web.person import Person
from tests.web.reviewing import Review, asks, opened, waits

VALUE: dict[str, Any] = {
    "question": "Approve this transfer?",
    "amount": 90_071_992_547_409_931,
    "to": {"name": "Mal\u202elory", "accounts": ["DE00", None]},
    "<b>note</b>": "first line\nsecond line",
}


def asking(reviewer: Person, name: str, value: Any = VALUE) -> Review:
    return opened(reviewer, asks(reviewer, "transfer", name=name, value=value))


@pytest.fixture
def fresh(request: pytest.FixtureRequest) -> str:
    """A name that no other test counts by."""
    return request.node.name.replace(" ", "_")


def test_all_that_was_handed_over_stands_before_the_answer_marked_as_the_agents(reviewer: Person, fresh: str) -> None:
    review = asking(reviewer, fresh)
    expect(review.words.first).to_contain_text("Approve this transfer?")
    details = review.page.get_by_role("region", name="Passed on by the agent, not checked")
    # To the last digit, and with what would not be seen made visible.
    for text in ("amount", "90071992547409931", "accounts", "DE00", "null", "<b>note</b>", "second line"):
        expect(details).to_contain_text(text)
    expect(details.locator("b")).to_have_count(0)
    expect(details.get_by_text("202E")).to_have_count(1)
    radio = review.page.get_by_role("radio").first
    assert review.page.evaluate(
        "([one, other]) => one.compareDocumentPosition(other)", [details.element_handle(), radio.element_handle()]
    ) == 4  # fmt: skip
    expect(review.page.get_by_role("radio", checked=True)).to_have_count(0)


def test_parts_of_what_was_handed_over_stand_apart_and_values_beside_their_words(reviewer: Person, fresh: str) -> None:
    review = asking(reviewer, fresh)
    words = review.words.first.bounding_box()
    details = review.page.locator("[data-act=details]").bounding_box()
    assert words
    assert details
    assert details["y"] >= words["y"] + words["height"] + 8
    for word, value in (("Yes", "true"), ("No", "false")):
        lines = [review.page.get_by_text(one, exact=True).first.bounding_box() for one in (word, value)]
        middles = [line["y"] + line["height"] / 2 for line in lines if line]
        assert abs(middles[0] - middles[1]) <= 2, middles


@pytest.mark.parametrize(
    ("key", "field", "typed", "gets", "got"),
    [
        ("1", None, "", "true", True),
        ("2", None, "", "false", False),
        ("3", "The text", "do it", '"do it"', "do it"),
        ("4", "The JSON", '{"text": "no"}', '{"text":"no"}', {"text": "no"}),
        ("4", "The JSON", "null", "null", None),
    ],
)
def test_the_page_says_what_the_graph_gets_and_sends_that(
    reviewer: Person, witness: Witness, fresh: str, key: str, field: str | None, typed: str, gets: str, got: Any
) -> None:
    review = asking(reviewer, fresh)
    review.chooses("Send")
    review.is_open()
    review.press(key)
    if field:
        own = review.page.get_by_label(field, exact=True)
        expect(own).to_be_focused()
        own.fill(typed)
    expect(review.page.get_by_text(f"The graph receives {gets}", exact=True)).to_be_visible()
    review.chooses("Send")
    review.ends("Answered at")
    assert review.finished() == f"the graph got {got!r}"
    assert witness.count(fresh) == (1 if got else 0)


def test_a_text_that_reads_as_a_refusal_is_refused_with_both_ways(
    reviewer: Person, witness: Witness, fresh: str
) -> None:
    review = asking(reviewer, fresh)
    review.press("3")
    review.page.get_by_label("The text", exact=True).fill("No!")
    review.chooses("Send")
    expect(review.bar.get_by_role("alert")).to_contain_text("Choose No to send false")
    assert review.told()["status"] == "pending"
    assert witness.count(fresh) == 0
    review.later()
    review.page.get_by_role("radio", name="No").check()
    review.chooses("Send")
    review.ends("Answered at")
    assert review.finished() == "the graph got False"
    assert witness.count(fresh) == 0


def test_json_is_checked_while_it_is_typed(reviewer: Person, fresh: str) -> None:
    review = asking(reviewer, fresh)
    review.press("4")
    own = review.page.get_by_label("The JSON", exact=True)
    own.fill("[1,")
    expect(review.page.get_by_text("This is not valid JSON yet.")).to_be_visible()
    review.chooses("Send")
    review.is_open()
    own.fill("90071992547409931")
    expect(review.page.get_by_text("cannot be sent from a browser")).to_be_visible()
    own.fill("[1, false]")
    expect(review.page.get_by_text("The graph receives [1,false]")).to_be_visible()


def test_options_of_the_graphs_own_stay_selectable(reviewer: Person, fresh: str) -> None:
    review = asking(reviewer, fresh, {"question": "Approve?", "options": ["go", "no"], "amount": 3})
    expect(review.page.get_by_role("radio")).to_have_count(6)
    review.press("2")
    expect(review.page.get_by_text('The graph receives "no"')).to_be_visible()
    review.chooses("Send")
    review.ends("Answered at")
    assert review.finished() == "the graph got 'no'"


def test_what_it_got_is_told_as_json_afterwards(reviewer: Person, fresh: str) -> None:
    review = asking(reviewer, fresh)
    review.press("2")
    review.chooses("Send")
    review.ends("Answered at")
    page = reviewer.opens(f"/requests/{review.request_id}")
    expect(page.get_by_role("heading", name="The graph received")).to_be_visible()
    expect(page.get_by_text("false", exact=True)).to_be_visible()


def test_in_a_conversation_and_in_chinese_it_is_the_same(
    visit: Visit, owner: ThreadsClient, witness: Witness, fresh: str
) -> None:
    (entry,) = asked(owner, ("transfer", {"name": fresh, "value": VALUE}))
    person = visit(owner, locale="zh-CN")
    person.takes_the_clock()
    page = person.opens(f"/chat/{entry['conversation_id']}")
    card = page.locator("[data-asked=open]")
    expect(card).to_contain_text("智能体提交的内容，未经核实")
    expect(card).to_contain_text("90071992547409931")
    waits(page)
    card.get_by_role("radio", name="否").check()
    expect(card).to_contain_text("图会收到 false")
    waits(page)
    card.get_by_role("button", name="发送").click()
    expect(page.get_by_text("the graph got False").first).to_be_visible()
    assert witness.count(fresh) == 0
