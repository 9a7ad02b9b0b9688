"""Signing in and out at a browser: with a password, with a new account, and with the link that the server prints."""

import uuid
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.web.conftest import Visit
from tests.web.person import Person

COOKIE = "interlock_session"


@pytest.fixture
def stranger(people: People, visit: Visit) -> Person:
    """Somebody with an account whom this browser does not know."""
    person = visit(people.named("stranger"))
    person.context.clear_cookies()
    return person


@pytest.fixture
def fresh(tmp_path: Path) -> Generator[ServerProcess]:
    """A server on which nobody has an account."""
    process = ServerProcess(tmp_path / "data", environment={"INTERLOCK_LOCALE": "en"})
    try:
        yield process.start()
    finally:
        process.close()


def link(server: ServerProcess) -> str:
    """What a person is told to open."""
    return server.output.read_text().splitlines()[1].split()[-1]


def sign_in(page: Page, name: str, password: str) -> None:
    page.get_by_label("Username", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_label("Password", exact=True).press("Enter")


def make_account(page: Page, name: str, password: str, again: str) -> None:
    page.get_by_label("Username", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_label("Repeat password").fill(again)
    page.get_by_role("button", name="Create account and sign in").click()


def who(page: Page) -> str | None:
    """Whom the server takes this browser for."""
    reply = page.request.get("/api/v1/session")
    return reply.json()["username"] if reply.ok else None


def test_a_password_opens_the_page_that_was_asked_for(stranger: Person) -> None:
    page = stranger.opens("/history?outcome=refused")
    expect(page.get_by_role("heading", name="Sign in to Interlock")).to_be_visible()
    expect(page.get_by_label("Username", exact=True)).to_be_focused()
    sign_in(page, stranger.name, stranger.client.password)
    expect(page.get_by_role("heading", level=1, name="History")).to_be_focused()
    assert page.url == f"{stranger.url}/history?outcome=refused"
    assert who(page) == stranger.name
    (cookie,) = stranger.context.cookies()
    assert (cookie.get("name"), cookie.get("httpOnly"), cookie.get("sameSite")) == (COOKIE, True, "Strict")


def test_a_wrong_password_signs_nobody_in_and_says_what_to_do(stranger: Person) -> None:
    page = stranger.opens("/login")
    sign_in(page, stranger.name, "not this one")
    expect(page.get_by_role("alert")).to_contain_text("Wrong username or password")
    expect(page.get_by_role("alert")).to_contain_text("interlock users reset NAME")
    expect(page.get_by_label("Username", exact=True)).to_have_value(stranger.name)
    assert who(page) is None
    sign_in(page, stranger.name, stranger.client.password)
    expect(page.get_by_role("heading", level=1, name="Inbox")).to_be_visible()


def test_a_new_account_is_signed_in_once_its_two_passwords_agree(stranger: Person) -> None:
    name = f"new-{uuid.uuid4()}"
    page = stranger.opens("/login")
    page.get_by_role("button", name="Create an account").click()
    make_account(page, name, "correct horse", "correct house")
    expect(page.get_by_role("alert")).to_have_text("The passwords do not match.")
    make_account(page, stranger.name, "correct horse", "correct horse")
    expect(page.get_by_role("alert")).to_have_text("This username is taken. Choose another one.")
    make_account(page, name, "correct horse", "correct horse")
    expect(page.get_by_role("heading", level=1, name="Inbox")).to_be_visible()
    assert who(page) == name


def test_signing_out_leaves_nothing_of_the_person_behind(person: Person) -> None:
    page = person.opens("/chat")
    page.get_by_label("Message").fill("a draft of mine")
    page.get_by_role("button", name=f"{person.name}: account and more").click()
    dialog = page.get_by_role("dialog", name=f"Signed in as {person.name}")
    dialog.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to Interlock")).to_be_visible()
    assert who(page) is None
    assert person.client.http.get("/api/v1/session").status_code == 401
    assert page.evaluate("JSON.stringify({...sessionStorage})") == "{}"
    page.goto("/inbox")
    expect(page.get_by_role("heading", name="Sign in to Interlock")).to_be_visible()


def test_the_printed_link_makes_the_first_account_and_holds_once(
    fresh: ServerProcess, owner: ThreadsClient, visit: Visit
) -> None:
    first = visit(owner, fresh.url)
    first.context.clear_cookies()
    page = first.opens(link(fresh))
    expect(page.get_by_role("heading", name="Create the first account")).to_be_visible()
    assert page.url == f"{fresh.url}/login"
    make_account(page, "ann", "correct horse", "correct horse")
    expect(page.get_by_text("All caught up. Nothing is waiting.")).to_be_visible()
    session = page.request.get("/api/v1/session").json()
    assert (session["username"], session["role"]) == ("ann", "admin")
    second = visit(owner, fresh.url)
    second.context.clear_cookies()
    page = second.opens(link(fresh))
    expect(page.get_by_role("alert")).to_contain_text("This link has already been used")
    assert who(page) is None


def test_the_link_for_the_first_account_ends_when_there_is_an_admin(
    fresh: ServerProcess, owner: ThreadsClient, visit: Visit
) -> None:
    """It may have been written to a log."""
    with fresh.client() as http:
        account = {"username": "ann", "password": "correct horse"}
        http.post("/api/auth/register", json=account).raise_for_status()
    ann = visit(owner, fresh.url)
    ann.context.clear_cookies()
    page = ann.opens(link(fresh))
    expect(page.get_by_role("alert")).to_contain_text("This link has already been used")
    assert who(page) is None
