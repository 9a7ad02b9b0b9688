"""Editing a call before it runs: every argument keeps its type, and what changes is shown."""

import json
from typing import Any

from playwright.sync_api import expect

from tests.support import hitl
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.person import Person
from tests.web.reviewing import Review, asks, opened

PICTURE: dict[str, Any] = {
    "text": "edited",
    "copies": 3,
    "scale": 1.5,
    "bold": True,
    "tags": ["a", "7"],
    "frame": {"width": 2, "colour": "red"},
    "mode": "fast",
    "note": None,
}


def edited(reviewer: Person, text: str) -> Review:
    """A picture is to be painted, and the form for its arguments is open."""
    review = opened(reviewer, asks(reviewer, "paint", "painter", **{**PICTURE, "text": text}))
    review.press("e")
    expect(review.page.get_by_role("heading", name="What will run instead")).to_be_visible()
    review.later()
    return review


def painted(witness: Witness, text: str, **changed: Any) -> None:
    """It was, once, with just these arguments."""
    given = {**PICTURE, "text": text, **changed}
    name = f"paint:{json.dumps(given, sort_keys=True, separators=(',', ':'))}"
    wait_for(lambda: witness.count(name), lambda count: count == 1)


def change_of(review: Review, path: str) -> str:
    """What the page says of a changed argument."""
    term = review.page.get_by_role("main").get_by_role("term").get_by_text(path, exact=True).last
    return term.locator("xpath=ancestor::dt/following-sibling::dd").text_content() or ""


def test_an_edit_keeps_every_type_and_shows_what_changes(reviewer: Person, witness: Witness) -> None:
    review = edited(reviewer, "types")
    page = review.page
    expect(page.get_by_text("No change yet.")).to_be_visible()
    expect(review.bar).to_contain_text("Nothing has been edited yet.")
    review.tries("Approve edited call")
    page.get_by_label("copies", exact=True).fill("12")
    page.get_by_label("scale", exact=True).fill("0.25")
    page.get_by_role("group", name="bold").get_by_label("false").check()
    page.get_by_label("tags 2", exact=True).fill("12")
    page.get_by_label("width", exact=True).fill("9")
    page.get_by_label("mode", exact=True).select_option(label='"slow"')
    for path, said in {"copies": ("3", "12"), "bold": ("true", "false"), "frame.width": ("2", "9")}.items():
        assert change_of(review, path) == f"1−removed:{said[0]}1+added:{said[1]}"
    review.is_open()
    review.goes_through_the_edit()
    review.chooses("Approve edited call")
    review.ends("as you edited it.")
    changed = {"copies": 12, "scale": 0.25, "bold": False, "tags": ["a", "12"], "mode": "slow"}
    painted(witness, "types", **changed, frame={"width": 9, "colour": "red"})


def test_what_is_not_of_its_type_cannot_be_approved(reviewer: Person, witness: Witness) -> None:
    review = edited(reviewer, "misfits")
    copies = review.page.get_by_label("copies", exact=True)
    for wrong in ("many", "1.5", "", "12345678901234567890"):
        copies.fill(wrong)
        expect(review.page.get_by_text("Wrong type.")).to_be_visible()
        expect(review.bar).to_contain_text("The edited arguments are not valid yet.")
        review.tries("Approve edited call")
    review.is_open()
    copies.fill("4")
    review.goes_through_the_edit()
    review.chooses("Approve edited call")
    review.ends("as you edited it.")
    painted(witness, "misfits", copies=4)


def test_items_and_optional_arguments_are_added_and_removed(reviewer: Person, witness: Witness) -> None:
    review = edited(reviewer, "more-or-less")
    page = review.page
    page.get_by_role("button", name="Add an item").click()
    page.get_by_label("tags 3", exact=True).fill("c")
    page.get_by_text("Item 1").locator("xpath=..").get_by_role("button", name="Remove").click()
    page.get_by_label("Type").select_option("text")
    page.get_by_label("note", exact=True).fill("now-a-text")
    review.goes_through_the_edit()
    review.chooses("Approve edited call")
    review.ends("as you edited it.")
    painted(witness, "more-or-less", tags=["7", "c"], note="now-a-text")


def test_a_call_is_edited_as_json_too(reviewer: Person, witness: Witness) -> None:
    review = edited(reviewer, "as-json")
    review.page.get_by_role("group", name="Edit as").get_by_role("button", name="JSON").click()
    editor = review.page.get_by_role("textbox", name="JSON of all arguments")
    editor.click()
    review.press("Control+a")
    review.page.keyboard.insert_text('{"text": broken')
    expect(review.page.get_by_text("Not valid JSON.")).to_be_visible()
    review.tries("Approve edited call")
    review.is_open()
    editor.click()
    review.press("Control+a")
    review.page.keyboard.insert_text(json.dumps({**PICTURE, "text": "as-json", "copies": 5}))
    expect(review.page.get_by_text("Not valid JSON.")).to_be_hidden()
    review.goes_through_the_edit()
    review.chooses("Approve edited call")
    review.ends("as you edited it.")
    painted(witness, "as-json", copies=5)


def test_an_edited_text_keeps_its_lines(reviewer: Person, witness: Witness) -> None:
    review = opened(reviewer, asks(reviewer, "write_file", path="edited-path", content="one\ntwo\n  three"))
    review.press("E")
    review.page.get_by_label("content").fill("one\n2\n  three")
    assert change_of(review, "content") == "1 one2−removed:two2+added:23   three"
    review.goes_through_the_edit()
    review.chooses("Approve edited call")
    review.ends("as you edited it.")
    assert review.sent[0]["value"]["args"] == {"path": "edited-path", "content": "one\n2\n  three"}
    wait_for(lambda: witness.count("edited-path"), lambda count: count == 1)


def test_an_edit_of_a_risky_call_takes_the_code_and_no_key_sends_it(reviewer: Person, witness: Witness) -> None:
    review = opened(reviewer, asks(reviewer, "execute", command="before-edit"))
    review.press("e")
    review.page.get_by_label("command").fill("after-edit")
    review.tries("Approve edited call")
    expect(review.code).to_be_focused()
    review.types_code()
    review.code.press("Control+Enter")
    review.page.get_by_label("command").press("Control+Enter")
    review.button("Approve edited call").press("Enter")
    review.is_open()
    review.goes_through_the_edit()
    review.chooses("Approve edited call")
    review.ends("as you edited it.")
    wait_for(lambda: witness.count("after-edit"), lambda count: count == 1)
    assert witness.count("before-edit") == 0


def test_what_the_schema_forbids_cannot_be_approved(reviewer: Person) -> None:
    with hitl.of(reviewer.client) as elsewhere:
        schema = {"type": "object", "properties": {"n": {"type": "integer", "not": {"const": 7}}}, "required": ["n"]}
        made = elsewhere.ask("permission", {"tool_name": "count", "args": {"n": 1}, "tool_schema": schema})
    review = opened(reviewer, made["request_id"])
    review.press("e")
    review.page.get_by_label("n", exact=True).fill("7")
    expect(review.bar).to_contain_text("The edited arguments are not valid yet.")
    review.tries("Approve edited call")
    review.is_open()
    expect(review.page.get_by_label("n", exact=True)).to_have_value("7")


def test_a_call_with_a_whole_number_where_the_tool_takes_a_float_is_edited(reviewer: Person, witness: Witness) -> None:
    """As every amount that is no fraction: 2.0 is spelled 2 by a browser, of which the tool makes 2.0 again."""
    review = opened(reviewer, asks(reviewer, "paint", "painter", **{**PICTURE, "text": "whole", "scale": 2.0}))
    expect(review.shown).to_contain_text("2.0")
    review.press("e")
    review.page.get_by_label("copies", exact=True).fill("4")
    review.goes_through_the_edit()
    review.chooses("Approve edited call")
    review.ends("as you edited it.")
    painted(witness, "whole", scale=2.0, copies=4)


def test_numbers_of_a_tool_without_a_schema_stay_what_they_are_in_an_edit(reviewer: Person) -> None:
    args = {"amount": 249.0, "shares": [1.0, 2.5, 3], "to": "ann"}
    with hitl.of(reviewer.client) as elsewhere:
        made = elsewhere.ask("permission", {"tool_name": "refund", "args": args})
    review = opened(reviewer, made["request_id"])
    expect(review.shown).to_contain_text("249.0")
    review.press("e")
    review.page.get_by_label("to", exact=True).fill("bob")
    review.goes_through_the_edit()
    review.chooses("Approve edited call")
    review.ends("as you edited it.")
    assert repr(review.told()["response"]["args"]) == repr({**args, "to": "bob"})


def test_numbers_that_a_browser_would_change_are_not_edited(reviewer: Person) -> None:
    with hitl.of(reviewer.client) as elsewhere:
        made = elsewhere.ask("permission", {"tool_name": "pay", "args": {"account": 12345678901234567890}})
    review = opened(reviewer, made["request_id"])
    review.press("e")
    expect(review.page.get_by_text("This call cannot be edited here")).to_contain_text("12345678901234567890")
    expect(review.bar).to_contain_text("Nothing has been edited yet.")
    review.tries("Approve edited call")
    review.is_open()


def test_discarded_edits_are_gone_and_the_call_is_as_it_was(reviewer: Person, witness: Witness) -> None:
    review = edited(reviewer, "discarded")
    review.page.get_by_label("copies", exact=True).fill("99")
    review.chooses("Discard edits")
    expect(review.button("Edit")).to_be_focused()
    review.later()
    review.press("e")
    expect(review.page.get_by_label("copies", exact=True)).to_have_value("3")
    review.press("Escape")
    review.chooses("Approve")
    review.ends("Approved at")
    painted(witness, "discarded")


def test_what_was_asked_for_is_not_called_what_will_run_while_it_is_edited(reviewer: Person) -> None:
    review = edited(reviewer, "named")
    headings = review.page.get_by_role("main").get_by_role("heading", level=2)
    expect(headings.get_by_text("What will run", exact=True)).to_have_count(0)
    expect(headings.get_by_text("What the agent asked for")).to_be_visible()
    review.press("Escape")
    expect(headings.get_by_text("What will run", exact=True)).to_be_visible()


def test_the_code_of_an_edited_call_stands_after_its_own_last_line(reviewer: Person, witness: Witness) -> None:
    review = opened(reviewer, asks(reviewer, "execute", command="echo asked for"))
    code = review.page.locator("[data-code]")
    expect(review.shown.locator(code)).to_have_text(review.told()["code"])
    review.press("e")
    form = review.part("What will run instead")
    expect(form.locator(code)).to_have_text(review.told()["code"])
    expect(code).to_have_count(1)
    assert review.page.evaluate(
        """() => {
          const [code, last] = [document.querySelector("[data-code]"), document.querySelector("textarea")];
          return Boolean(last.compareDocumentPosition(code) & Node.DOCUMENT_POSITION_FOLLOWING);
        }"""
    )
    review.page.get_by_label("command", exact=True).fill("echo edited")
    review.types_code()
    review.goes_through_the_edit()
    review.chooses("Approve edited call")
    review.ends("Approved at")
    wait_for(lambda: witness.count("echo edited"), lambda count: count == 1)


def test_an_edit_shows_what_hides_in_its_fields_and_calls_nothing_required_that_nobody_said_is(
    reviewer: Person,
) -> None:
    with hitl.of(reviewer.client) as elsewhere:
        made = elsewhere.ask("permission", {"tool_name": "send", "args": {"to": "Mal\u202elory", "note": "plain"}})
    review = opened(reviewer, made["request_id"])
    review.press("e")
    form = review.part("What will run instead")
    expect(form.get_by_text("202E")).to_have_count(1)
    expect(form.get_by_text("required")).to_have_count(0)
    review.page.get_by_label("to", exact=True).fill("Mallory")
    expect(form.get_by_text("With hidden characters shown")).to_have_count(0)
    review.page.get_by_label("note", exact=True).fill("zero\u200bwidth")
    # Beside the field, and again in what changes.
    expect(form.get_by_text("200B")).to_have_count(2)
