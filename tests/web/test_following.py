"""A conversation that grows while it is open: who is at its end stays there, and who is not is left where they read."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.puppet import calls, flood, gate, says, script
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.chatting import begin, said, thread_of
from tests.web.conftest import Visit
from tests.web.person import DESKTOP, PHONE, Person
from tests.web.reviewing import Review, come, waits

# What an agent says may come in the very moment in which the page has scrolled to what it said before.
GROWS_WHILE_SCROLLED = """async (region) => {
  const add = (height) => {
    const more = document.createElement("div");
    more.style.height = height;
    region.firstElementChild.append(more);
  };
  add("500px");
  // In this frame the page scrolls, of which the next one tells first: more has come by then.
  await new Promise((resolve) => requestAnimationFrame(resolve));
  await new Promise((resolve) => setTimeout(resolve));
  add("900px");
}"""
# Not quite: a request is seen, and its beginning is not where it will rest.
NEARLY_TO_THE_REQUEST = """region => {
  const request = region.querySelector("[data-asked=open]");
  region.scrollTop += request.getBoundingClientRect().top - region.getBoundingClientRect().top - 120;
}"""
TO_THE_END = "one => one.scrollHeight - one.clientHeight - one.scrollTop"
# What a finger meets in the middle of it.
MET = """one => {
  const { left, top, width, height } = one.getBoundingClientRect();
  return one.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""


def conversation(page: Page) -> Locator:
    return page.get_by_role("region", name="Conversation")


def follows(region: Locator) -> None:
    """The end of it is on the screen."""
    wait_for(lambda: region.evaluate(TO_THE_END), lambda left: left <= 1)


def goes_up(region: Locator) -> None:
    """To the beginning; a page that is being drawn may not hear the first press."""

    def look() -> float:
        region.press("Home")
        return region.evaluate("one => one.scrollTop")

    wait_for(look, lambda top: top == 0)


def test_text_is_followed_only_by_who_is_at_its_end(person: Person, witness: Witness) -> None:
    name = f"scrolled-{person.name}"
    page = begin(person, script(says(flood(200, "word\n\n"), gate(name), flood(200, "more\n\n"))))
    region = conversation(page)
    expect(region.get_by_role("paragraph").last).to_have_text("199 word")
    expect(region.get_by_role("paragraph").last).to_be_in_viewport()
    goes_up(region)
    witness.release(name)
    new = page.get_by_role("button", name="New text")
    expect(new).to_be_visible()
    expect(region.get_by_text("199 more")).to_be_attached()
    assert region.evaluate("element => element.scrollTop") == 0
    new.click()
    expect(region.get_by_text("199 more")).to_be_in_viewport()
    expect(new).to_have_count(0)


def test_who_is_at_the_end_stays_there_however_fast_text_comes(person: Person) -> None:
    page = begin(person, script(says(flood(100, "word\n\n"))))
    expect(said(page, "99 word")).to_be_in_viewport()
    region = conversation(page)
    region.evaluate(GROWS_WHILE_SCROLLED)
    follows(region)
    expect(page.get_by_role("button", name="New text")).to_have_count(0)


def test_text_that_comes_below_a_receipt_is_told_and_the_receipt_stays_in_sight(person: Person) -> None:
    """The focus is on the receipt, which is not moved out of sight: what the agent goes on to say is below."""
    person.takes_the_clock()
    page = begin(person, script(calls(("guarded", {"name": "told"})), says(flood(200, "word\n\n"))))
    card = asked(person, page)
    waits(page)
    card.chooses("Approve")
    new = page.get_by_role("button", name="New text")
    expect(new).to_be_visible()
    expect(said(page, "199 word")).to_be_attached()
    expect(card.bar.get_by_text("Approved at")).to_be_in_viewport()
    new.click()
    expect(said(page, "199 word")).to_be_in_viewport()
    expect(new).to_have_count(0)


@pytest.mark.parametrize("screen", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_nothing_lies_over_what_decides_when_a_request_comes_to_who_reads_above(
    owner: ThreadsClient, visit: Visit, witness: Witness, screen: dict[str, int]
) -> None:
    person = visit(owner, viewport=screen)
    name = f"above-{person.name}"
    talk = [flood(100, "word\n\n"), gate(name), flood(100, "more\n\n")]
    page = begin(person, script(calls(("guarded", {"name": name}), say=talk)))
    expect(said(page, "99 word")).to_be_in_viewport()
    goes_up(conversation(page))
    witness.release(name)
    card = asked(person, page)
    # What stands above the request is as high as it will be.
    expect(said(page, "99 more")).to_be_attached()
    conversation(page).evaluate(NEARLY_TO_THE_REQUEST)
    expect(card.button("Approve")).to_be_in_viewport()
    for button in card.bar.get_by_role("button").all():
        assert button.evaluate(MET)


def asked(person: Person, page: Page) -> Review:
    (request,) = person.client.wait_for_status(thread_of(page), "interrupted")["interrupt_info"]["requests"]
    return come(Review(person, page, request["request_id"]))
