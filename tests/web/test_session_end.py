"""A session that ends while somebody fills a form: what they have begun stays theirs, and no secret comes to light."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.support.hitl import of
from tests.support.people import People
from tests.support.puppet import calls, says, script
from tests.web.chatting import begin, said, thread_of
from tests.web.conftest import Visit
from tests.web.person import Person
from tests.web.reviewing import Review, come

SECRET, REST = "sk-first-half", "-and-the-rest"
VALUES: dict[str, Any] = {"fields": [{"name": "DB_URL", "sensitive": False}, {"name": "API_KEY"}]}
CHOICE: dict[str, Any] = {"title": "Go?", "options": [{"key": "go", "label": "Go"}, {"key": "no", "label": "No"}]}
CLEAR_TEXTS = "[...document.querySelectorAll('input:not([type=password]), textarea')].map((one) => one.value).join()"


def asked(person: Person, kind: str, data: dict[str, Any]) -> Review:
    with of(person.client) as outside:
        request_id = outside.ask(kind, data)["request_id"]
    return come(Review(person, person.opens(f"/requests/{request_id}"), request_id))


def ends_session(person: Person) -> None:
    """Elsewhere: the page learns of it by itself."""
    assert person.context.request.delete("/api/v1/session").ok


def sheet(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Your session has ended")


def signs_in(person: Person, page: Page) -> None:
    field = sheet(page).get_by_label(f"Password for {person.name}")
    field.fill(person.client.password)
    field.press("Enter")
    expect(sheet(page)).to_have_count(0)
    person.client.sign_in(register=False)


def test_what_is_begun_outlives_the_session_and_no_secret_is_typed_into_a_clear_field(person: Person) -> None:
    person.takes_the_clock()
    review = asked(person, "env_var", VALUES)
    page = review.page
    page.get_by_label("DB_URL").fill("postgres://kept")
    page.get_by_label("API_KEY").press_sequentially(SECRET)
    ends_session(person)
    expect(sheet(page)).to_contain_text("Your work on this page is kept")
    page.keyboard.type(REST)
    expect(sheet(page).get_by_label("Password for")).to_have_value(REST)
    expect(sheet(page).get_by_label("Password for")).to_have_attribute("type", "password")
    assert REST not in page.evaluate(CLEAR_TEXTS)
    page.keyboard.press("Enter")
    expect(sheet(page).get_by_role("alert")).to_contain_text("Wrong username or password")
    for _ in range(3):
        page.keyboard.press("Escape")
    expect(sheet(page)).to_be_visible()
    assert SECRET not in page.evaluate("JSON.stringify({...sessionStorage, ...localStorage})")
    signs_in(person, page)
    expect(page.get_by_label("API_KEY")).to_be_focused()
    expect(page.get_by_label("API_KEY")).to_have_value(SECRET)
    expect(page.get_by_label("DB_URL")).to_have_value("postgres://kept")
    page.keyboard.type(REST)
    review.chooses("Send values")
    review.ends("Answered at")
    assert review.sent[-1]["value"]["values"] == {"DB_URL": "postgres://kept", "API_KEY": SECRET + REST}


def test_a_conversation_and_what_is_begun_in_it_outlive_the_session(person: Person) -> None:
    """Also a secret that is half written on a card of it, which is kept nowhere else."""
    person.takes_the_clock()
    fields = [{"name": "API_KEY"}]
    page = begin(person, script(calls(("request_env_vars", {"fields": fields})), says("Thank you.")))
    thread_id = thread_of(page)
    (request,) = person.client.wait_for_status(thread_id, "interrupted")["interrupt_info"]["requests"]
    card = come(Review(person, page, request["request_id"]))
    page.get_by_label("Message").fill("a thought for later")
    page.get_by_label("API_KEY").press_sequentially(SECRET)
    ends_session(person)
    expect(sheet(page)).to_be_visible()
    signs_in(person, page)
    expect(page.get_by_label("API_KEY")).to_be_focused()
    expect(page.get_by_label("API_KEY")).to_have_value(SECRET)
    page.keyboard.type(REST)
    card.chooses("Send values")
    expect(said(page, "Thank you.")).to_be_visible()
    assert card.sent[-1]["value"]["values"] == {"API_KEY": SECRET + REST}
    expect(page.get_by_label("Message")).to_have_value("a thought for later")


def test_a_draft_is_there_after_a_reload_and_another_sign_in_of_the_same_person(person: Person) -> None:
    review = asked(person, "decision", CHOICE)
    page = review.page
    page.get_by_label("Reason").fill("because of the draft")
    ends_session(person)
    expect(sheet(page)).to_be_visible()
    page.reload()
    page.get_by_label("Username", exact=True).fill(person.name)
    page.get_by_label("Password", exact=True).fill(person.client.password)
    page.get_by_label("Password", exact=True).press("Enter")
    expect(page.get_by_label("Reason")).to_have_value("because of the draft")


def test_nothing_of_it_is_left_for_somebody_else_who_signs_in(person: Person, people: People) -> None:
    next_one = people.named("next-at-this-desk")
    page = asked(person, "decision", CHOICE).page
    page.get_by_label("Reason").fill("not for others")
    ends_session(person)
    expect(sheet(page)).to_be_visible()
    page.reload()
    page.get_by_label("Username", exact=True).fill(next_one.username)
    page.get_by_label("Password", exact=True).fill(next_one.password)
    page.get_by_label("Password", exact=True).press("Enter")
    expect(page.get_by_text("This request does not exist")).to_be_visible()
    assert "not for others" not in page.evaluate("JSON.stringify({...sessionStorage, ...localStorage})")


def test_signing_in_again_in_another_tab_gives_the_page_back(person: Person, visit: Visit) -> None:
    page = asked(person, "decision", CHOICE).page
    page.get_by_label("Reason").fill("kept meanwhile")
    ends_session(person)
    expect(sheet(page)).to_be_visible()
    other = person.opens("/login")
    other.get_by_label("Username", exact=True).fill(person.name)
    other.get_by_label("Password", exact=True).fill(person.client.password)
    other.get_by_label("Password", exact=True).press("Enter")
    expect(sheet(page)).to_have_count(0)
    expect(page.get_by_label("Reason")).to_have_value("kept meanwhile")
