"""Nothing is answered that nobody chose: not by a click meant for something else, nor by a key to scroll with."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, expect

from tests.support.puppet import calls, script
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.chatting import begin, thread_of
from tests.web.person import Person, lead
from tests.web.reviewing import Review, asks, come, offline, opened

SAFE = ("GET", "HEAD")
BEAT_MS = 100
"""How often somebody clicks who hammers."""
BEATS = 30


@pytest.mark.parametrize("kind", ["on its page", "in its conversation"])
def test_after_a_reconnect_no_button_that_decides_has_the_focus_and_space_only_scrolls(
    reviewer: Person, kind: str
) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="reconnected"))
    if kind == "in its conversation":
        page = reviewer.opens(f"/chat/{review.told()['conversation_id']}")
        review = come(Review(reviewer, page, review.request_id))
        page.keyboard.press("g")
        page.keyboard.press("r")
    with offline(reviewer):
        review.ends("No connection since")
    expect(review.button("Approve")).to_be_visible()
    review.later()
    assert review.page.evaluate("document.activeElement.closest('button, input, a')") is None
    review.press("Space")
    review.later()
    review.press("Space")
    review.is_open()


def hammers(page: Page, x: float, y: float, beats: int = BEATS) -> None:
    """Clicks at one place, again and again."""
    for _ in range(beats):
        page.mouse.click(x, y)
        page.clock.run_for(BEAT_MS)


def is_there(review: Review, beat: Callable[[], None]) -> None:
    """Somebody goes on hammering until the request is on the page, of which time stands still without them."""

    def look() -> bool:
        beat()
        return review.page.evaluate(
            "id => document.querySelector(`[data-review='${id}'] [data-act=yes]`) !== null", review.request_id
        )

    wait_for(look, lambda found: found)


def middle(review: Review, name: str) -> tuple[float, float]:
    box = review.button(name).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_hammering_approves_no_request_that_comes_under_the_pointer(reviewer: Person, witness: Witness) -> None:
    """The next request stands where the one before it was."""
    first, second = (f"{place}-hammered-{reviewer.name}" for place in ("first", "second"))
    one = opened(reviewer, asks(reviewer, "guarded", name=first))
    at = middle(one, "Approve")
    other = Review(reviewer, one.page, asks(reviewer, "guarded", name=second))
    one.freezes()
    hammers(one.page, *at, beats=3)
    lead(one.page, f"/requests/{other.request_id}")
    is_there(other, lambda: hammers(one.page, *at, beats=1))
    assert middle(other, "Approve") == at
    hammers(one.page, *at)
    assert other.told()["status"] == "pending"
    assert witness.count(second) == 0
    one.page.clock.run_for(800)
    one.page.mouse.click(*at)
    wait_for(lambda: witness.count(second), lambda count: count == 1)


def test_hammering_a_key_approves_nothing_that_has_just_come(reviewer: Person, witness: Witness) -> None:
    name = f"hammered-key-{reviewer.name}"
    page = reviewer.opens("/inbox")
    review = Review(reviewer, page, asks(reviewer, "guarded", name=name))

    def beat() -> None:
        page.keyboard.press("a")
        page.clock.run_for(BEAT_MS)

    review.freezes()
    beat()
    lead(page, f"/requests/{review.request_id}")
    is_there(review, beat)
    for _ in range(BEATS):
        beat()
    review.is_open()
    page.clock.run_for(800)
    page.keyboard.press("a")
    expect(review.bar.get_by_text("Press A again")).to_be_visible()
    assert witness.count(name) == 0


def test_hammering_refuses_nothing_either(reviewer: Person) -> None:
    """The button that sends a refusal stands where the one stood that asks for its reason."""
    review = opened(reviewer, asks(reviewer, "guarded", name="hammered-refusal"))
    review.freezes()
    review.page.clock.run_for(800)
    hammers(review.page, *middle(review, "Refuse"))
    expect(review.bar.get_by_role("heading", name="Refuse guarded")).to_be_visible()
    hammers(review.page, *middle(review, "Refuse"))
    review.is_open()


def test_hammering_in_a_conversation_answers_only_the_request_that_was_chosen(person: Person, witness: Witness) -> None:
    person.takes_the_clock()
    names = [f"{place}-in-a-row-{person.name}" for place in ("one", "two")]
    page = begin(person, script(*(calls(("guarded", {"name": name})) for name in names)))
    status = person.client.wait_for_status(thread_of(page), "interrupted")
    card = come(Review(person, page, status["interrupt_info"]["requests"][0]["request_id"]))
    card.later()
    at = middle(card, "Approve")
    card.freezes()
    hammers(page, *at, beats=3)
    wait_for(lambda: witness.count(names[0]), lambda count: count == 1)
    (asked,) = person.client.wait_for_status(thread_of(page), "interrupted")["interrupt_info"]["requests"]
    following = Review(person, page, asked["request_id"])
    following.bar = page.locator(f"[data-review='{following.request_id}'] [data-bar]")
    is_there(following, lambda: hammers(page, *at, beats=1))
    for _ in range(BEATS):
        hammers(page, *middle(following, "Approve"), beats=1)
    assert following.told()["status"] == "pending"
    assert witness.count(names[1]) == 0


def acts(page: Page, path: str) -> list[str]:
    """What the page has the server do there, from now on."""
    found: list[str] = []

    def heard(request: Request) -> None:
        if request.method not in SAFE and path in request.url:
            found.append(request.method)

    page.on("request", heard)
    return found


def test_two_clicks_make_one_key(person: Person) -> None:
    """The other one would be a key that nobody has seen, and that works."""
    page = person.opens("/settings/keys")
    made = acts(page, "/api/v1/keys")
    page.get_by_label("Name", exact=True).fill("laptop")
    page.get_by_role("button", name="Create key").dblclick()
    expect(page.get_by_role("dialog")).to_contain_text("shown only once")
    page.get_by_role("button", name="I have saved it").click()
    expect(page.get_by_role("main").get_by_role("listitem").filter(has_text="laptop")).to_have_count(1)
    assert made == ["POST"]


def test_two_clicks_connect_an_agent_with_one_key(person: Person) -> None:
    page = person.opens("/settings/connect")
    made = acts(page, "/api/v1/keys")
    page.get_by_role("button", name="Create key and show the steps").dblclick()
    expect(page.locator("[data-first=waiting]")).to_be_visible()
    assert made == ["POST"]


def test_two_clicks_change_a_password_once(person: Person) -> None:
    """The second one would say that the password was wrong, after it had been changed."""
    page = person.opens("/settings/account")
    changed = acts(page, "/api/v1/account/password")
    page.get_by_label("Current password", exact=True).fill(person.client.password)
    for label in ("New password", "Repeat new password"):
        page.get_by_label(label, exact=True).fill("another password")
    page.get_by_role("button", name="Change password").dblclick()
    expect(page.get_by_label("Current password", exact=True)).to_have_value("")
    expect(page.get_by_text("That is not your current password.")).to_have_count(0)
    assert changed == ["POST"]
