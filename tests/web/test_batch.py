"""Answering several at once: calls of one agent and one tool, of low risk, each read to its end."""

from collections.abc import Generator
from itertools import count

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.support import puppet
from tests.support.inbox import answer, asked, forget, view
from tests.support.people import FIRST, People
from tests.support.puppet import Call
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.person import Person
from tests.web.reviewing import waits

RISKS = "guarded=low write_file=low execute=medium"
ALIKE = "Select for a batch"

_numbers = count(1)


@pytest.fixture(scope="module")
def lenient(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    """A server whose operator holds two tools to be harmless, with two agents that have them."""
    agents = [puppet.SPEC, puppet.SPEC.replace("puppet=", "other=", 1)]
    environment = {**witness.environment, "INTERLOCK_RISKS": RISKS}
    process = ServerProcess(tmp_path_factory.mktemp("batch"), agents=agents, environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="module")
def desk(browser: Browser, lenient: ServerProcess) -> Generator[Person]:
    with People(lenient.url) as people:
        person = Person(browser, lenient.url, people.named(FIRST), {})
        person.takes_the_clock()
        yield person
        person.leave()


@pytest.fixture
def hasty(reviewer: Person) -> Generator[Person]:
    """Somebody who has much to answer, and nothing from before."""
    yield reviewer
    forget(reviewer.client)


def named(person: Person, *names: str) -> list[Call]:
    return [("guarded", {"name": f"{name}-{person.name}"}) for name in names]


def select(page: Page, number: int) -> None:
    """The first so many of the list, with keys."""
    expect(page.get_by_label(ALIKE).first).to_be_visible()
    for _ in range(number):
        page.keyboard.press("j")
        page.keyboard.press("x")


def sheet(page: Page, number: int) -> Locator:
    """The dialog with so many calls in full."""
    page.keyboard.press("b")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("end ·")).to_have_count(number)
    return dialog


def read_to(end: Locator, dialog: Locator, left: list[str]) -> None:
    """Scrolls there as often as it takes: what is drawn on the way pushes it down."""

    def unread() -> list[str]:
        end.scroll_into_view_if_needed()
        return dialog.get_by_text("not read to the end yet.").all_inner_texts()

    wait_for(unread, lambda found: found == left)


def choose(button: Locator) -> None:
    """As soon as it may be clicked, and a click counts."""
    expect(button).to_be_enabled()
    waits(button.page)
    button.click()


def test_calls_alike_are_read_in_full_and_those_that_are_ticked_are_approved(hasty: Person, witness: Witness) -> None:
    asked(hasty.client, *named(hasty, "a", "b"))
    (third,) = asked(hasty.client, *named(hasty, "c"))
    page = hasty.opens()
    select(page, 3)
    expect(page.get_by_role("region", name="Batch")).to_contain_text("3 selected: guarded · puppet")
    dialog = sheet(page, 3)
    for name in ("a", "b", "c"):
        expect(dialog.get_by_text(f'"name": "{name}-{hasty.name}"')).to_be_visible()
    expect(dialog.get_by_role("img", name="differs between the calls")).to_have_count(3)
    asked(hasty.client, *named(hasty, "newcomer"))
    dialog.get_by_role("checkbox", name="Call 3 of 3").uncheck()
    approve = dialog.get_by_role("button", name="Approve 2 calls")
    expect(approve).to_be_enabled()
    waits(page)
    approve.press("Enter")
    expect(approve).to_be_visible()
    approve.press("Space")
    expect(dialog.get_by_text("2 of 2 done.")).to_be_focused()
    expect(dialog.get_by_role("article").filter(has_text="✓ Approved")).to_have_count(2)
    for name, ran in (("a", 1), ("b", 1), ("c", 0), ("newcomer", 0)):
        wait_for(lambda name=name: witness.count(f"{name}-{hasty.name}"), lambda found, ran=ran: found == ran)
    assert view(hasty.client, third["request_id"])["status"] == "pending"
    page.keyboard.press("Escape")
    expect(page.get_by_role("listitem").filter(has_text="✓ You approved")).to_have_count(2)
    expect(page.get_by_role("button", name="1 new · show")).to_be_visible()


def test_calls_alike_are_refused_together(hasty: Person, witness: Witness) -> None:
    entries = asked(hasty.client, *named(hasty, "no", "neither"))
    page = hasty.opens()
    select(page, 2)
    dialog = sheet(page, 2)
    choose(dialog.get_by_role("button", name="Refuse 2 calls"))
    expect(dialog.get_by_text("2 of 2 done.")).to_be_visible()
    for entry in entries:
        assert view(hasty.client, entry["request_id"])["response"]["decision"] == "reject"
    assert witness.count(f"no-{hasty.name}") == 0


def test_what_is_mixed_or_riskier_is_not_taken_into_a_batch(hasty: Person) -> None:
    # It has a deadline, so it stands above the others.
    asked(hasty.client, ("request_clarification", {"question": "Which?"}))
    asked(hasty.client, *named(hasty, "harmless"))
    asked(hasty.client, ("write_file", {"path": "x", "content": "y"}))
    asked(hasty.client, *named(hasty, "of-another-agent"), agent="other")
    asked(hasty.client, ("execute", {"command": "medium"}))
    page = hasty.opens()
    bar = page.get_by_role("region", name="Batch")
    steps = (
        "A batch takes approvals only; this is a question.",
        "1 selected: guarded · puppet",
        "Different tool: a batch takes calls of one tool only.",
        "Different agent: a batch takes calls of one agent only.",
        "A batch takes low-risk calls only. Open this one on its own.",
    )
    expect(page.get_by_label(ALIKE)).to_have_count(3)
    for step in steps:
        page.keyboard.press("j")
        page.keyboard.press("x")
        expect(bar).to_contain_text(step)
    expect(bar).to_contain_text("1 selected")
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()


def test_at_most_twenty_are_answered_together(hasty: Person) -> None:
    asked(hasty.client, *named(hasty, *(str(number) for number in range(21))))
    page = hasty.opens()
    select(page, 1)
    bar = page.get_by_role("region", name="Batch")
    bar.get_by_role("button", name="Select all 20 alike").click()
    expect(bar).to_contain_text("20 selected")
    page.get_by_label(ALIKE).last.click()
    expect(bar).to_contain_text("A batch takes at most 20 calls.")
    expect(page.get_by_label(ALIKE).and_(page.locator(":checked"))).to_have_count(20)


def test_what_somebody_else_settles_meanwhile_is_left_out(hasty: Person, witness: Witness) -> None:
    taken, own = asked(hasty.client, *named(hasty, "taken", "own"))
    page = hasty.opens()
    select(page, 2)
    dialog = sheet(page, 2)
    answer(hasty.client, taken["request_id"], {"decision": "reject"}).raise_for_status()
    expect(dialog.get_by_role("article").first).to_contain_text("Left out.")
    choose(dialog.get_by_role("button", name="Approve 1 call"))
    expect(dialog.get_by_text("1 of 1 done.")).to_be_visible()
    wait_for(lambda: witness.count(f"own-{hasty.name}"), lambda ran: ran == 1)
    assert witness.count(f"taken-{hasty.name}") == 0
    assert view(hasty.client, own["request_id"])["response"]["decision"] == "accept"


def test_the_rest_of_a_batch_is_not_sent_when_an_answer_got_no_reply(hasty: Person, witness: Witness) -> None:
    """There may be a network again an hour later, and nobody at the page."""
    number = next(_numbers)
    names = [f"{place}-{number}" for place in ("through", "unheard", "rest")]
    _, lost, rest = asked(hasty.client, *named(hasty, *names))
    page = hasty.opens()
    select(page, 3)
    dialog = sheet(page, 3)
    page.route(f"**/requests/{lost['request_id']}/answer", lambda route: route.abort(), times=1)
    read_to(dialog.get_by_text("end ·").last, dialog, [])
    choose(dialog.get_by_role("button", name="Approve 3 calls"))
    again = dialog.get_by_role("button", name="Approve 2 calls")
    expect(again).to_be_visible()
    expect(dialog.get_by_text("1 of 2 done.")).to_be_visible()
    assert view(hasty.client, rest["request_id"])["status"] == "pending"
    choose(again)
    expect(dialog.get_by_text("3 of 3 done.")).to_be_visible()
    for name in names:
        wait_for(lambda name=name: witness.count(f"{name}-{hasty.name}"), lambda ran: ran == 1)


def test_an_end_that_nothing_is_drawn_before_yet_does_not_count_as_read(hasty: Person) -> None:
    """The browser leaves out what is far from the screen, and guesses how high it is: far too low for one long line."""
    long = {"path": "x", "content": "word " * 3_000}
    _, second = asked(hasty.client, ("write_file", long), ("write_file", long))
    page = hasty.opens("about:blank")
    held: list[Route] = []
    page.route(f"**/inbox/requests/{second['request_id']}", lambda route: held.append(route))
    page.goto("/inbox")
    select(page, 2)
    page.keyboard.press("b")
    dialog = page.get_by_role("dialog")
    end = dialog.get_by_text("end ·")
    expect(end).to_have_count(1)
    # The first call pushes the second one, which comes only now, far below the screen.
    for route in held:
        route.continue_()
    expect(end).to_have_count(2)
    unread = dialog.get_by_role("status").filter(has_text="not read to the end yet.")
    expect(unread).to_have_text("2 calls not read to the end yet.")
    end.first.scroll_into_view_if_needed()
    expect(unread).to_have_text("1 call not read to the end yet.")
    expect(end.last).not_to_be_in_viewport()
    read_to(end.last, dialog, [])


def test_a_batch_waits_until_the_end_of_each_call_was_on_the_screen(hasty: Person, witness: Witness) -> None:
    long = f"long-{next(_numbers)}"
    asked(hasty.client, *(("write_file", {"path": long, "content": "line\n" * 2_000}) for _ in range(2)))
    page = hasty.opens()
    select(page, 2)
    page.keyboard.press("b")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("status").filter(has_text="2 calls not read to the end yet.")).to_be_visible()
    waits(page)
    approve = dialog.get_by_role("button", name="Approve 2 calls")
    approve.click(force=True)
    end = dialog.get_by_text("end ·")
    read_to(end.first, dialog, ["1 call not read to the end yet."])
    read_to(end.last, dialog, [])
    assert witness.count(long) == 0
    choose(approve)
    expect(dialog.get_by_text("2 of 2 done.")).to_be_visible()
    wait_for(lambda: witness.count(long), lambda ran: ran == 2)
