"""Single sign-on at a browser: to the provider's page and back, and out of both again."""

import socket
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.command import users
from tests.support.oidc_provider import Misbehaviour, OidcProvider
from tests.support.server import ServerProcess


@pytest.fixture(scope="module")
def house() -> Generator[OidcProvider]:
    with OidcProvider() as running:
        yield running


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, house: OidcProvider) -> Generator[ServerProcess]:
    """Where browsers reach it is known before it starts; passwords are off."""
    folder: Path = tmp_path_factory.mktemp("sign-on")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    settings = house.environment(f"http://127.0.0.1:{port}", INTERLOCK_PASSWORDS="off", INTERLOCK_LOCALE="en")
    process = ServerProcess(folder / "data", environment=settings, port=port)
    try:
        process.start()
        users(process, "create", "boss", "--password", "wonderland", "--role", "admin")
        yield process
    finally:
        process.close()


@pytest.fixture
def page(browser: Browser, served: ServerProcess, house: OidcProvider) -> Generator[Page]:
    context = browser.new_context(base_url=served.url, locale="en-GB")
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    house.behave()
    context.close()
    assert complaints == []


def test_one_signs_in_and_out_with_the_provider(page: Page, house: OidcProvider) -> None:
    house.person = {"sub": "s-ann", "preferred_username": "ann"}
    page.goto("/settings/account")
    expect(page.get_by_label("Password")).to_have_count(0)
    page.get_by_role("button", name="Sign in with Test House").click()
    expect(page.get_by_role("heading", name="Single sign-on")).to_be_visible()
    assert page.url.endswith("/settings/account")
    assert page.request.get("/api/v1/session").json()["username"] == "ann"
    # Another identity of the same person's.
    house.person = {"sub": "s-other", "preferred_username": "<b>other</b>", "hasgroups": True}
    page.get_by_role("button", name="Link an identity of Test House").click()
    expect(page.get_by_text("<b>other</b>")).to_be_visible()
    expect(page.get_by_text("INTERLOCK_OIDC_GROUPS_CLAIM")).to_be_visible()
    page.get_by_role("button", name="Unlink ann", exact=True).click()
    expect(page.get_by_role("button", name="Unlink ann", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Sign out everywhere").click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out everywhere").click()
    expect(page.get_by_role("button", name="Sign in with Test House")).to_be_visible()


def test_signing_out_ends_the_providers_session_too(page: Page, house: OidcProvider) -> None:
    house.person = {"sub": "s-out", "preferred_username": "outer"}
    page.goto("/login")
    page.get_by_role("button", name="Sign in with Test House").click()
    page.get_by_role("button", name="outer").click()
    with page.expect_request(f"{house.issuer}/end**"):
        page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in with Test House")).to_be_visible()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Misbehaviour(error="<img src=x onerror=alert(1)>"), "did not sign you in"),
        (Misbehaviour(claims={"nonce": "x" * 43}), "does not accept"),
    ],
)
def test_what_went_wrong_is_said_with_a_way_back(
    page: Page, house: OidcProvider, wrong: Misbehaviour, said: str
) -> None:
    page.goto("/login")
    button = page.get_by_role("button", name="Sign in with Test House")
    expect(button).to_be_visible()
    house.misbehave(wrong)
    button.click()
    expect(page.get_by_role("alert").filter(has_text=said)).to_be_visible()
    assert page.url.endswith("/login/return")
    assert page.locator("img").count() == 0
    house.behave()
    house.person = {"sub": "s-back", "preferred_username": "back"}
    page.get_by_role("button", name="Sign in with Test House").click()
    expect(page.get_by_role("button", name="back")).to_be_visible()


def test_a_link_with_somebody_elses_code_signs_nobody_in(page: Page) -> None:
    page.goto("/login/return?code=stolen&state=%3Cscript%3Ealert(1)%3C/script%3E")
    expect(page.get_by_role("alert").filter(has_text="Begin again")).to_be_visible()
    assert page.url.endswith("/login/return")
    assert page.request.get("/api/v1/session").status == 401
