"""Values that an agent needs: they reach its tools, and stay nowhere else."""

import hashlib
import json

import pytest
from playwright.sync_api import Locator, expect

from tests.support import hitl
from tests.support.inbox import INBOX, told
from tests.support.puppet import calls, script
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.person import Person
from tests.web.reviewing import Review, opened

SECRET = "sk-Zw7-never-to-be-seen-again"
FIELDS = [
    {"name": "WEB_KEY", "label": "Key of the shop", "description": "to look up prices"},
    {"name": "WEB_REGION", "sensitive": False},
    {"name": "WEB_NOTE", "required": False, "sensitive": False},
]


def needed(reviewer: Person) -> Review:
    """An agent needs values, and will use the first of them."""
    use = calls(("use_key", {"name": "WEB_KEY"}))
    (entry,) = told(reviewer.client, script(calls(("request_env_vars", {"fields": FIELDS})), use))
    return opened(reviewer, entry["request_id"])


def used(witness: Witness, value: str) -> None:
    """A tool has had it."""
    name = f"key:{hashlib.sha256(value.encode()).hexdigest()}"
    wait_for(lambda: witness.count(name), lambda count: count > 0)


def kept_in_the_browser(review: Review) -> str:
    """Everything that the page, its fields, its storage and its address hold."""
    return review.page.evaluate("""() => JSON.stringify([
      document.documentElement.outerHTML,
      [...document.querySelectorAll("input, textarea")].map((one) => one.value),
      { ...sessionStorage }, { ...localStorage }, document.cookie, location.href, history.state,
    ])""")


def test_values_reach_the_tools_and_are_nowhere_afterwards(reviewer: Person, witness: Witness) -> None:
    review = needed(reviewer)
    expect(review.page.get_by_role("heading", level=1)).to_have_text("puppet needs values")
    review.page.get_by_label("WEB_KEY required").fill(SECRET)
    review.page.get_by_label("WEB_REGION required").fill("eu-west")
    assert SECRET not in review.page.evaluate("JSON.stringify([{...sessionStorage}, {...localStorage}])")
    assert SECRET not in review.page.content()
    review.chooses("Send values")
    review.ends("Answered at")
    assert [sent["value"] for sent in review.sent] == [
        {"values": {"WEB_KEY": SECRET, "WEB_REGION": "eu-west"}, "save": False}
    ]
    used(witness, SECRET)
    assert SECRET not in kept_in_the_browser(review)
    review.page.reload()
    expect(review.page.get_by_role("definition").filter(has_text="••••")).to_be_visible()
    assert SECRET not in kept_in_the_browser(review)
    is_nowhere_in_the_histories(review)


def is_nowhere_in_the_histories(review: Review) -> None:
    owner = review.owner
    page = review.page
    page.goto("/history")
    page.get_by_text("WEB_KEY, WEB_REGION").first.click()
    expect(page.get_by_text("••••").first).to_be_visible()
    assert SECRET not in kept_in_the_browser(review)
    thread_id = review.told()["conversation_id"]
    with hitl.of(owner) as elsewhere:
        assert elsewhere.saved() == []
    for path in (
        f"/api/history/{thread_id}",
        "/api/v1/history",
        "/api/v1/audit",
        f"{INBOX}/requests/{review.request_id}",
    ):
        assert SECRET not in owner.http.get(path).raise_for_status().text


def test_a_secret_is_hidden_as_it_is_typed_and_shown_for_a_moment(reviewer: Person) -> None:
    review = needed(reviewer)
    key = review.page.get_by_label("WEB_KEY required")
    expect(review.page.get_by_text("Key of the shop")).to_be_visible()
    expect(key).to_have_attribute("type", "password")
    key.fill(SECRET)
    review.page.get_by_role("button", name="Show for 10 s").click()
    expect(key).to_have_attribute("type", "text")
    review.passes(10_100)
    expect(key).to_have_attribute("type", "password")
    expect(key).to_have_value(SECRET)


def test_a_secret_is_gone_with_the_page_and_what_is_none_stays_a_draft(reviewer: Person) -> None:
    review = needed(reviewer)
    review.page.get_by_label("WEB_KEY required").fill(SECRET)
    review.page.get_by_label("WEB_REGION required").fill("eu-west")
    review.page.reload()
    expect(review.page.get_by_label("WEB_REGION required")).to_have_value("eu-west")
    expect(review.page.get_by_label("WEB_KEY required")).to_have_value("")
    assert SECRET not in kept_in_the_browser(review)


def test_a_value_that_is_needed_is_asked_for_before_anything_is_sent(reviewer: Person) -> None:
    review = needed(reviewer)
    review.page.get_by_label("WEB_REGION required").fill("eu-west")
    review.chooses("Send values")
    expect(review.page.get_by_label("WEB_KEY required")).to_be_focused()
    expect(review.page.get_by_text("Enter a value.")).to_have_count(1)
    review.is_open()


PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nzs3tLxW8\n-----END PRIVATE KEY-----\n"
IS_HIDDEN = "one => one.type === 'password' || getComputedStyle(one).webkitTextSecurity === 'disc'"


def pastes(field: Locator, text: str) -> None:
    """As a person does, with what another window left on the clipboard."""
    field.evaluate(
        """(field, text) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
          if (field.dispatchEvent(paste)) { field.focus(); document.execCommand("insertText", false, text); }
        }""",
        text,
    )


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_secret_of_several_lines_keeps_its_lines_and_stays_hidden(
    reviewer: Person, witness: Witness, ending: str
) -> None:
    review = needed(reviewer)
    key = review.page.get_by_label("WEB_KEY required")
    pastes(key, PEM.replace("\n", ending))
    expect(key).to_have_value(PEM)
    assert key.evaluate(IS_HIDDEN)
    review.page.get_by_label("WEB_REGION required").fill("eu\nwest")
    review.page.get_by_role("button", name="Show for 10 s").first.click()
    assert not key.evaluate(IS_HIDDEN)
    review.passes(10_000)
    expect(review.page.get_by_role("button", name="Show for 10 s").first).to_be_visible()
    assert key.evaluate(IS_HIDDEN)
    assert "MIIEvQ" not in review.page.content()
    review.chooses("Send values")
    review.ends("Answered at")
    used(witness, PEM)
    assert review.sent[-1]["value"]["values"]["WEB_KEY"] == PEM
    assert review.sent[-1]["value"]["values"]["WEB_REGION"] == "eu\nwest"
    assert "MIIEvQ" not in kept_in_the_browser(review)


def test_lines_of_a_secret_can_be_typed(reviewer: Person) -> None:
    review = needed(reviewer)
    key = review.page.get_by_label("WEB_KEY required")
    key.fill("first")
    review.page.get_by_role("button", name="Several lines").first.click()
    # What is typed on would else be taken for shortcuts.
    expect(key).to_be_focused()
    expect(key).to_have_value("first")
    review.press("End", "Enter")
    review.page.keyboard.type("second")
    expect(key).to_have_value("first\nsecond")
    assert key.evaluate(IS_HIDDEN)


def test_saved_values_fill_later_asks_without_anybody(reviewer: Person, witness: Witness) -> None:
    review = needed(reviewer)
    review.page.get_by_label("WEB_KEY required").fill(f"{SECRET}-saved")
    review.page.get_by_label("WEB_REGION required").fill("eu-west")
    review.page.get_by_label("WEB_NOTE optional").fill("kept")
    review.page.get_by_label("Save encrypted, and fill in this agent’s later requests without asking me").check()
    review.page.get_by_label("WEB_KEY required").press("Control+Enter")
    review.ends("Answered at")
    used(witness, f"{SECRET}-saved")
    thread_id = review.owner.new_thread()
    told = review.owner.chat(thread_id, script(calls(("request_env_vars", {"fields": FIELDS}))))
    assert json.loads(told.text)["provided"] == ["WEB_KEY", "WEB_NOTE", "WEB_REGION"]
    review.owner.http.get("/api/v1/secrets").raise_for_status()
    assert f"{SECRET}-saved" not in kept_in_the_browser(review)
