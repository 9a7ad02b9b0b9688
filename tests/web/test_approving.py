"""Saying yes to a call: what has to be seen and done first, and what never counts as a yes."""

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.inbox import asked, view
from tests.support.puppet import calls, script
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.person import Person
from tests.web.reviewing import Review, asks, opened, reviewed

LONG = "\n".join(f"echo {number}" for number in range(5_000))
IS_SHOWN = """(text) => [...document.querySelectorAll("section")].some(
  (one) => one.querySelector("h2, h3")?.textContent === "What will run" && one.textContent.includes(text))"""

# To where the end is taken to be now; what is drawn there then has frames enough to be laid out.
JUMP = """async (one) => {
  one.scrollTop = one.scrollHeight;
  for (let frames = 0; frames < 10; frames += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
}"""


def ran(witness: Witness, name: str) -> None:
    """It has run, once."""
    wait_for(lambda: witness.count(name), lambda count: count > 0)
    assert witness.count(name) == 1


def test_a_click_approves_what_is_shown_and_it_runs_once(reviewer: Person, witness: Witness) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="approved-by-click"))
    expect(review.page.get_by_role("heading", level=1)).to_have_text("guarded wants to run")
    expect(review.shown).to_contain_text('"approved-by-click"')
    shown = review.told()["digest"]
    review.chooses("Approve")
    review.ends("Approved at")
    expect(review.bar.get_by_text("guarded has run.")).to_be_focused()
    ran(witness, "approved-by-click")
    assert [(sent["value"], sent["digest"]) for sent in review.sent] == [({"decision": "accept"}, shown)]
    assert (review.told()["answered_by"], review.told()["source"]) == (reviewer.name, "web")


def test_the_page_shows_how_an_approved_call_ended_live_and_after_a_reload(reviewer: Person, witness: Witness) -> None:
    name = f"hold:{reviewer.name}"
    review = opened(reviewer, asks(reviewer, "guarded", name=name))
    review.chooses("Approve")
    review.ends("guarded is running.")
    witness.release(name)
    review.ends("guarded has run.")
    expect(review.page.get_by_text(f"done {name}")).to_be_visible()
    review.page.reload()
    review.ends("guarded has run.")
    expect(review.page.get_by_text(f"done {name}")).to_be_visible()


def test_what_will_run_stands_before_what_the_agent_says_of_it(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="first"))
    own = review.part("The tool’s own description")
    expect(own).to_contain_text("Do something that a person has to allow.")
    regions = review.page.get_by_role("region").and_(review.shown.or_(own))
    names = [region.get_by_role("heading").first.inner_text().lower() for region in regions.all()]
    assert names == ["what will run", "the tool’s own description"]
    tops = [region.evaluate("element => element.getBoundingClientRect().top") for region in regions.all()]
    assert tops == sorted(tops)


@pytest.mark.parametrize(
    ("tool", "agent", "risk"),
    [("peek", "painter", "○ Low"), ("guarded", "puppet", "◆ Medium"), ("execute", "puppet", "▲ High")],
)
def test_a_risk_is_told_by_a_word_and_a_shape(reviewer: Person, tool: str, agent: str, risk: str) -> None:
    review = opened(reviewer, asks(reviewer, tool, agent, **{"command" if tool == "execute" else "name": "x"}))
    expect(review.shown.get_by_text(risk)).to_be_visible()
    assert review.button("Approve").inner_text().startswith("▲") == (tool == "execute")


def test_two_strokes_of_a_approve_a_low_risk(reviewer: Person, witness: Witness) -> None:
    review = opened(reviewer, asks(reviewer, "peek", "painter", name="two-strokes"))
    review.freezes()
    review.press("a", "a", "Shift+A")
    expect(review.bar.get_by_role("status")).to_contain_text("Approve peek exactly as shown? Press A again")
    review.is_open()
    review.passes(450)
    review.press("A")
    review.ends("Approved at")
    ran(witness, "two-strokes")


def test_arming_ends_with_escape_with_time_and_with_any_change(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="never-armed"))
    armed = review.bar.get_by_text("exactly as shown?")
    for disarm in (
        lambda: review.press("Escape"),
        lambda: review.passes(10_100),
        lambda: review.page.get_by_label("Always allow guarded, any arguments, in this conversation").check(),
    ):
        review.press("a")
        expect(armed).to_be_visible()
        review.passes(450)
        disarm()
        expect(armed).to_be_hidden()
    review.is_open()


def test_enter_approves_nothing(reviewer: Person, witness: Witness) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="by-space"))
    review.press("Enter", "Control+Enter", "Meta+Enter")
    review.button("Approve").focus()
    review.press("Enter", "Control+Enter", "Shift+Enter", "Meta+Enter")
    review.press("a", "Enter")
    review.is_open()
    review.later()
    review.button("Approve").press(" ")
    review.ends("Approved at")
    assert len(review.sent) == 1
    ran(witness, "by-space")


def test_enter_in_the_field_of_the_code_approves_nothing(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "execute", command="not-by-enter"))
    review.types_code()
    for keys in ("Enter", "Control+Enter", "Meta+Enter"):
        review.code.press(keys)
    expect(review.button("Approve")).to_be_enabled()
    review.is_open()


def test_escape_answers_nothing(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="escaped"))
    review.press("Escape")
    for name, field in (("Refuse", "Reason"), ("Reply", "What the agent is told"), ("Edit", "name")):
        review.chooses(name)
        review.page.get_by_label(field).press("Escape")
        expect(review.button("Approve")).to_be_visible()
        expect(review.button(name)).to_be_focused()
    review.is_open()


def test_leaving_the_page_answers_nothing(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="left"))
    review.chooses("Refuse")
    review.page.get_by_label("Reason").fill("perhaps")
    review.page.get_by_role("link", name="History").click()
    expect(review.page.get_by_role("heading", level=1, name="History")).to_be_visible()
    review.page.go_back()
    expect(review.bar).to_be_visible()
    review.is_open()


# What is pressed at the very moment at which another request has come onto the page.
PRESS_AS_IT_COMES = """(text) => new Promise((resolve) => {
  const press = () => {
    const approve = [...document.querySelectorAll("button")].find((one) => one.innerText.startsWith("Approve"));
    if (!approve || !(IS_SHOWN)(text)) return;
    observer.disconnect();
    for (const key of ["a", "r", "e", "m", "1", "Enter", " "])
      approve.dispatchEvent(new KeyboardEvent("keydown", { key, code: key, bubbles: true, cancelable: true }));
    approve.click();
    resolve(true);
  };
  const observer = new MutationObserver(press);
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  press();
})""".replace("IS_SHOWN", IS_SHOWN)


def test_what_is_pressed_as_a_request_comes_does_nothing(reviewer: Person) -> None:
    here, there = asked(reviewer.client, ("guarded", {"name": "is-here"}), ("guarded", {"name": "comes-next"}))
    review = opened(reviewer, here["request_id"])
    review.page.evaluate(f"window.pressed = ({PRESS_AS_IT_COMES})('comes-next'); 0")
    review.page.get_by_role("link", name="Go to 2 of 2 in this pause").click()
    assert review.page.evaluate("window.pressed")
    expect(review.shown).to_contain_text("comes-next")
    expect(review.button("Approve")).to_be_visible()
    review.is_open()
    assert view(reviewer.client, there["request_id"])["status"] == "pending"
    review.later()
    review.press("r")
    expect(review.page.get_by_label("Reason")).to_be_focused()


# A finger that does not stop: whatever button comes to lie under it within the next moment is clicked.
CLICK_ON = """({ x, y, text }) => new Promise((resolve) => {
  let since = null;
  const look = () => {
    if ((IS_SHOWN)(text)) since ??= performance.now();
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  const click = () => {
    look();
    if (since !== null && performance.now() - since > 250) return resolve(true);
    document.elementFromPoint(x, y)?.closest("button")?.click();
    for (const one of document.querySelectorAll("button")) if (one.innerText.startsWith("Approve")) one.click();
    requestAnimationFrame(click);
  };
  click();
})""".replace("IS_SHOWN", IS_SHOWN)


def test_a_double_click_never_approves_the_next_question(
    person: Person, owner: ThreadsClient, witness: Witness
) -> None:
    thread_id = owner.new_thread()
    first, second = (("guarded", {"name": name}) for name in ("clicked-twice", "asked-next"))
    owner.chat(thread_id, script(calls(first), calls(second)))
    page = person.opens(f"/chat/{thread_id}")
    approve = page.get_by_role("button", name="Approve")
    approve.wait_for()
    page.wait_for_function("since => performance.now() - since > 900", arg=page.evaluate("performance.now()"))
    place = approve.bounding_box()
    assert place is not None
    middle = {"x": place["x"] + place["width"] / 2, "y": place["y"] + place["height"] / 2}
    assert page.evaluate(CLICK_ON, {**middle, "text": "asked-next"})
    ran(witness, "clicked-twice")
    status = owner.wait_for_status(thread_id, "interrupted")
    assert status["interrupt_info"]["requests"][0]["request_data"]["args"] == {"name": "asked-next"}
    assert witness.count("asked-next") == 0


def test_a_double_click_on_the_page_of_a_request_answers_once(reviewer: Person, witness: Witness) -> None:
    here, there = asked(reviewer.client, ("guarded", {"name": "twice-here"}), ("guarded", {"name": "not-there"}))
    review = opened(reviewer, here["request_id"])
    review.button("Approve").dblclick(no_wait_after=True)
    review.ends("Approved at")
    assert len(review.sent) == 1
    assert view(reviewer.client, there["request_id"])["status"] == "pending"


def test_a_double_click_in_a_conversation_marks_no_words(reviewer: Person) -> None:
    """The second click comes when its button has gone."""
    (entry,) = asked(reviewer.client, ("guarded", {"name": "unmarked"}))
    page = reviewer.opens(f"/chat/{entry['conversation_id']}")
    review = reviewed(reviewer, page, entry["request_id"])
    review.button("Approve").dblclick()
    review.ends("Approved at")
    assert page.evaluate("getSelection().toString()") == ""


def test_a_high_risk_is_approved_with_its_code_alone(reviewer: Person, witness: Witness) -> None:
    review = opened(reviewer, asks(reviewer, "execute", command="coded-on-the-page"))
    code = review.told()["code"]
    expect(review.shown.get_by_text("to approve")).to_contain_text(code)
    review.tries("Approve")
    expect(review.code).to_be_focused()
    review.code.fill("0000" if code != "0000" else "1111")
    mistake = review.bar.get_by_text("These are not the digits")
    expect(mistake).to_have_css("color", "rgb(179, 38, 30)")
    review.tries("Approve")
    review.button("Approve").press(" ")
    review.code.fill(code[:3])
    expect(review.bar).to_contain_text("Type the four digits")
    review.tries("Approve")
    review.is_open()
    review.code.fill(code)
    review.chooses("Approve")
    review.ends("Approved at")
    assert [sent["code"] for sent in review.sent] == [code]
    ran(witness, "coded-on-the-page")


def test_a_code_that_the_server_does_not_take_is_told_once_and_nothing_runs(reviewer: Person, witness: Witness) -> None:
    review = opened(reviewer, asks(reviewer, "execute", command="miscoded"))

    def mistype(route: Route) -> None:
        sent: dict[str, Any] = route.request.post_data_json or {}
        route.continue_(post_data=json.dumps({**sent, "code": "0000" if sent["code"] != "0000" else "1111"}))

    review.page.route("**/answer", mistype, times=1)
    review.types_code()
    review.chooses("Approve")
    review.ends("Not accepted, nothing was done: These are not the digits shown after the last line.")
    expect(review.bar.get_by_text("digits", exact=False)).to_have_count(1)
    assert (review.told()["status"], witness.count("miscoded")) == ("pending", 0)
    review.chooses("Approve")
    review.ends("Approved at")
    ran(witness, "miscoded")


def test_fingers_that_have_learned_a_code_do_not_approve_the_same_call_again(
    reviewer: Person, witness: Witness
) -> None:
    first, *others = (view(reviewer.client, asks(reviewer, "execute", command="again-and-again")) for _ in range(4))
    learned = first["code"]
    # One of them may have the same digits by chance.
    review = opened(reviewer, next(one["request_id"] for one in others if one["code"] != learned))
    review.code.fill(learned)
    review.tries("Approve")
    expect(review.bar).to_contain_text("These are not the digits")
    review.is_open()
    review.types_code()
    review.chooses("Approve")
    review.ends("Approved at")
    ran(witness, "again-and-again")


def test_at_high_risk_a_goes_to_the_code_and_never_approves(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "execute", command="not-by-a"))
    review.press("a")
    expect(review.code).to_be_focused()
    review.types_code()
    review.code.blur()
    for _ in range(3):
        review.press("a")
        review.code.blur()
        review.passes(450)
    review.is_open()


def tab_to(review: Review, wanted: Locator) -> None:
    """With the keyboard, as often as it takes."""
    for _ in range(60):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        review.press("Tab")
    expect(wanted).to_be_focused()


def test_the_keyboard_alone_approves_what_takes_a_code_and_what_was_edited(reviewer: Person, witness: Witness) -> None:
    review = opened(reviewer, asks(reviewer, "execute", command="coded-by-keys"))
    review.press("a")
    expect(review.code).to_be_focused()
    review.page.keyboard.type(review.told()["code"])
    tab_to(review, review.button("Approve"))
    review.press(" ")
    review.ends("Approved at")
    ran(witness, "coded-by-keys")

    review = opened(reviewer, asks(reviewer, "guarded", name="before"))
    review.press("e")
    tab_to(review, review.page.get_by_label("name", exact=True))
    review.press("Control+a")
    review.page.keyboard.type("edited-by-keys")
    tab_to(review, review.button("Approve edited call"))
    review.later()
    review.press(" ")
    review.ends("as you edited it.")
    ran(witness, "edited-by-keys")


def test_letters_do_nothing_in_fields_or_held_down(reviewer: Person) -> None:
    review = opened(reviewer, asks(reviewer, "guarded", name="letters"))
    review.chooses("Refuse")
    expect(review.page.get_by_label("Reason")).to_be_focused()
    review.page.keyboard.type("area message")
    expect(review.page.get_by_label("Reason")).to_have_value("area message")
    review.press("Escape")
    review.button("Approve").blur()
    review.page.keyboard.down("a")
    for _ in range(3):
        review.passes(450)
        review.page.keyboard.down("a")
    review.page.keyboard.up("a")
    review.is_open()


def test_a_jump_to_an_end_that_moves_away_when_what_is_before_it_is_drawn_counts_for_nothing(reviewer: Person) -> None:
    """The browser leaves out what is far from the screen, and guesses how high it is: far too low for one long line."""
    command = "\n".join([*(f"echo {number}" for number in range(100)), "echo " + "word " * 4_000, "last"])
    review = opened(reviewer, asks(reviewer, "execute", command=command))
    left = review.bar.get_by_text("lines left")
    left.wait_for()
    scroller = review.page.locator("[data-review] > div").first
    scroller.evaluate(JUMP)
    expect(left).to_be_visible()
    review.shown.get_by_text("102 lines").scroll_into_view_if_needed()
    left.wait_for(state="hidden")


def test_5000_lines_are_all_there_and_have_to_be_gone_through(reviewer: Person, witness: Witness) -> None:
    review = opened(reviewer, asks(reviewer, "execute", command=LONG))
    # Not `expect`: for each look in vain it describes the whole page, which takes long where there is so much of it.
    review.bar.get_by_text("lines left").wait_for()
    lines = review.page.evaluate(
        "() => [...document.querySelectorAll('[data-lines]:not([data-aside] *) > *')].map((one) => one.textContent)"
    )
    assert [line.removeprefix("$ ") for line in lines] == LONG.split("\n")
    review.types_code()
    review.tries("Approve")
    review.is_open()
    assert review.button("Approve").is_disabled()
    scroll_to_the_end(review.page)
    review.bar.get_by_text("lines left").wait_for(state="hidden")
    review.chooses("Approve")
    review.bar.get_by_text("Approved at").wait_for()
    assert len(review.sent) == 1
    ran(witness, "echo 0")


def scroll_to_the_end(page: Page) -> None:
    """With the wheel, as often as it takes: blocks of lines are laid out as they come into view."""
    page.mouse.move(600, 300)
    end = page.get_by_text("5,000 lines")
    while not end.evaluate("element => element.getBoundingClientRect().bottom < innerHeight - 40"):
        page.mouse.wheel(0, 20_000)
