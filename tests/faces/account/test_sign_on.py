"""Single sign-on over HTTP: from this browser to the provider and back, and nobody else's way in."""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any

import httpx
import pytest

from tests.support import puppet
from tests.support.command import command
from tests.support.http import client as http_client
from tests.support.oidc_provider import Misbehaviour, OidcProvider
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

SESSION = "/api/v1/session"
BEGIN, FINISH = f"{SESSION}/sign-on", f"{SESSION}/sign-on/finish"
IDENTITIES = "/api/v1/account/identities"
PUBLIC_URL = "http://127.0.0.1:8000"
ROLES = "admin=/ops reviewer:puppet=/reviewers"

Body = dict[str, Any]


@pytest.fixture(scope="module")
def house() -> Generator[OidcProvider]:
    with OidcProvider() as running:
        yield running


@pytest.fixture
def provider(house: OidcProvider) -> Generator[OidcProvider]:
    yield house
    house.behave()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, house: OidcProvider, witness: Witness) -> Generator[ServerProcess]:
    """Whose first admin has a password; roles follow the groups of the provider."""
    folder = tmp_path_factory.mktemp("sign-on")
    (folder / "workspace").mkdir()
    environment = {
        **witness.environment,
        **house.environment(PUBLIC_URL, INTERLOCK_OIDC_ROLES=ROLES),
        puppet.WORKSPACE: str(folder / "workspace"),
    }
    process = ServerProcess(folder / "data", agents=[puppet.SPEC], environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="module")
def admin(server: ServerProcess) -> Generator[ThreadsClient]:
    client = ThreadsClient(server.url, "boss").sign_in()
    yield client
    client.http.close()


@pytest.fixture
def join(server: ServerProcess, admin: ThreadsClient) -> Iterator[Callable[[str], ThreadsClient]]:
    """Somebody with a password."""
    with ExitStack() as stack:

        def joined(name: str) -> ThreadsClient:
            person = ThreadsClient(server.url, name)
            stack.callback(person.http.close)
            return person.sign_in()

        yield joined


@contextmanager
def at_a_browser(server: ServerProcess) -> Generator[httpx.Client]:
    with http_client(server.url, headers={"origin": server.url}) as client:
        yield client


@pytest.fixture
def browser(server: ServerProcess, admin: ThreadsClient) -> Iterator[httpx.Client]:
    with at_a_browser(server) as client:
        yield client


def goes(browser: httpx.Client, provider: OidcProvider, person: Body, path: str = BEGIN, **body: Any) -> dict[str, str]:
    """To the provider; with what they come back."""
    provider.person = person
    reply = browser.post(path, json=body).raise_for_status()
    return provider.authorize(reply.json()["url"])


def signs_on(browser: httpx.Client, provider: OidcProvider, person: Body, **body: Any) -> httpx.Response:
    return browser.post(FINISH, json=goes(browser, provider, person, **body))


def who(browser: httpx.Client) -> Body:
    return browser.get(SESSION).raise_for_status().json()


def reason(reply: httpx.Response) -> tuple[int, str, str]:
    return reply.status_code, reply.json()["code"], reply.json().get("reason", "")


def test_who_signs_in_there_has_an_account_here(browser: httpx.Client, provider: OidcProvider) -> None:
    assert browser.get("/api/v1/welcome").json()["sign_on"] == "Test House"
    reply = signs_on(browser, provider, {"sub": "s-new", "preferred_username": "newcomer"}, next="/requests/perm_1")
    assert reply.json() == {"next": "/requests/perm_1", "linked": False, "groups_left_out": False}
    set_cookie = " ".join(reply.headers.get_list("set-cookie")).lower()
    assert "httponly" in set_cookie
    assert "samesite=strict" in set_cookie
    present = who(browser)
    assert (present["username"], present["role"]) == ("newcomer", "owner")
    (session,) = browser.get("/api/v1/account/sessions").json()["sessions"]
    assert session["how"] == "oidc"
    (lasts,) = {datetime.fromisoformat(session[name]) for name in ("expires_at",)}
    assert (lasts - datetime.fromisoformat(session["signed_in_at"])).total_seconds() == 12 * 3600


@pytest.mark.parametrize("path", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_one_comes_back_to_this_server_only(browser: httpx.Client, provider: OidcProvider, path: str) -> None:
    assert signs_on(browser, provider, {"sub": "s-back"}, next=path).json()["next"] == "/inbox"


def test_another_browser_cannot_finish_it(server: ServerProcess, browser: httpx.Client, provider: OidcProvider) -> None:
    """Nor be signed in as somebody else by their link."""
    back = goes(browser, provider, {"sub": "s-victim"})
    with at_a_browser(server) as other:
        assert reason(other.post(FINISH, json=back)) == (403, "sign_on_failed", "expired")
        goes(other, provider, {"sub": "s-other"})
        assert reason(other.post(FINISH, json=back)) == (403, "sign_on_failed", "expired")
        assert other.get(SESSION).status_code == 401
    assert browser.post(FINISH, json=back).status_code == 200


def test_what_came_back_is_taken_once(server: ServerProcess, browser: httpx.Client, provider: OidcProvider) -> None:
    provider.misbehave(Misbehaviour(is_lax=True))
    back = goes(browser, provider, {"sub": "s-again"})
    copy = dict(browser.cookies)
    browser.post(FINISH, json=back).raise_for_status()
    with at_a_browser(server) as thief:
        thief.cookies.update(copy)
        assert reason(thief.post(FINISH, json=back)) == (403, "sign_on_failed", "expired")
        assert thief.get(SESSION).status_code == 401


def test_a_changed_cookie_does_not_hold(browser: httpx.Client, provider: OidcProvider) -> None:
    back = goes(browser, provider, {"sub": "s-changed"})
    ((name, text),) = browser.cookies.items()
    browser.cookies.clear()
    head, body, signature = text.split(".")
    browser.cookies.set(name, f"{head}.{body}.{signature[::-1]}")
    assert reason(browser.post(FINISH, json=back)) == (403, "sign_on_failed", "expired")


def test_another_site_cannot_begin_or_finish_it(browser: httpx.Client, provider: OidcProvider) -> None:
    back = goes(browser, provider, {"sub": "s-cross"})
    evil = {"origin": "https://evil.example"}
    assert browser.post(BEGIN, json={}, headers=evil).status_code == 403
    assert browser.post(FINISH, json=back, headers=evil).status_code == 403


WRONG: dict[str, tuple[Misbehaviour, str]] = {
    "denied": (Misbehaviour(error="access_denied"), "denied"),
    "an error with markup": (Misbehaviour(error="<script>alert(1)</script>"), "denied"),
    "another nonce": (Misbehaviour(claims={"nonce": "x" * 43}), "refused"),
    "unsigned": (Misbehaviour(algorithm="none"), "refused"),
}


@pytest.mark.parametrize(("wrong", "said"), WRONG.values(), ids=WRONG.keys())
def test_what_went_wrong_is_said_and_nobody_is_signed_in(
    browser: httpx.Client, provider: OidcProvider, wrong: Misbehaviour, said: str
) -> None:
    provider.misbehave(wrong)
    back = goes(browser, provider, {"sub": "s-wrong"})
    body = {name: value for name, value in back.items() if name != "error"}
    reply = browser.post(FINISH, json=body)
    assert reason(reply) == (403, "sign_on_failed", said)
    assert "script" not in reply.text
    assert browser.get(SESSION).status_code == 401


def test_a_role_and_groups_hold_until_the_next_sign_in(
    server: ServerProcess, browser: httpx.Client, provider: OidcProvider
) -> None:
    person = {"sub": "s-role", "preferred_username": "roles"}
    signs_on(browser, provider, {**person, "groups": ["/reviewers"]})
    assert (who(browser)["role"], who(browser)["reviews"]) == ("reviewer", ["puppet"])
    with at_a_browser(server) as elsewhere:
        reply = signs_on(elsewhere, provider, {**person, "_claim_names": {"groups": "src1"}})
        assert reply.json()["groups_left_out"] is True
    # Also in the session that was open before.
    assert who(browser)["role"] == "owner"
    (identity,) = browser.get(IDENTITIES).json()["identities"]
    assert (identity["groups"], identity["groups_left_out"]) == ([], True)
    assert "Groups assigned to the application" in server.log.read_text()


def test_who_is_signed_in_links_an_identity(
    server: ServerProcess,
    admin: ThreadsClient,
    browser: httpx.Client,
    provider: OidcProvider,
    join: Callable[[str], ThreadsClient],
) -> None:
    ann = join("linker")
    browser.post(SESSION, json={"username": "linker", "password": ann.password}).raise_for_status()
    person = {"sub": "s-link", "preferred_username": "<b>ann"}
    back = goes(browser, provider, person, IDENTITIES)
    assert browser.post(FINISH, json=back).json() == {
        "next": "/settings/account",
        "linked": True,
        "groups_left_out": False,
    }
    (identity,) = browser.get(IDENTITIES).json()["identities"]
    assert (identity["subject"], identity["label"]) == ("s-link", "<b>ann")
    with at_a_browser(server) as another:
        signs_on(another, provider, person)
        assert who(another)["username"] == "linker"
        # Whose session it is when the browser comes back decides, and not who began it.
        back = goes(another, provider, {"sub": "s-link-2"}, IDENTITIES)
        signs_on_as = another.post(SESSION, json={"username": "boss", "password": admin.password})
        signs_on_as.raise_for_status()
        assert reason(another.post(FINISH, json=back)) == (403, "sign_on_failed", "expired")
    assert browser.delete(f"{IDENTITIES}/{identity['id']}").status_code == 200
    assert browser.get(IDENTITIES).json() == {"identities": [], "has_password": True}
    assert who(browser)["username"] == "linker"


def test_an_admin_links_and_unlinks_which_ends_the_sessions(
    admin: ThreadsClient, browser: httpx.Client, provider: OidcProvider, join: Callable[[str], ThreadsClient]
) -> None:
    ann = join("linked")
    place = f"/api/v1/people/{ann.http.get(SESSION).json()['user_id']}/identities"
    made = admin.http.post(place, json={"subject": "s-admin"}).raise_for_status().json()
    assert admin.http.post(place.replace("user_", "user_x"), json={"subject": "s-admin-2"}).status_code == 404
    assert ann.http.post(place, json={"subject": "s-own"}).status_code == 403
    signs_on(browser, provider, {"sub": "s-admin"})
    assert who(browser)["username"] == "linked"
    people = admin.http.get("/api/v1/people").json()["people"]
    assert [
        [one["subject"] for one in person["identities"]] for person in people if person["username"] == "linked"
    ] == [["s-admin"]]
    assert admin.http.delete(f"{place}/{made['id']}").status_code == 200
    assert browser.get(SESSION).status_code == 401
    assert ann.http.get(SESSION).status_code == 200


def test_the_only_way_in_is_not_unlinked_by_its_owner(browser: httpx.Client, provider: OidcProvider) -> None:
    signs_on(browser, provider, {"sub": "s-only"})
    (identity,) = browser.get(IDENTITIES).json()["identities"]
    assert browser.delete(f"{IDENTITIES}/{identity['id']}").status_code == 409
    assert len(browser.get(IDENTITIES).json()["identities"]) == 1


def test_signing_out_leads_to_the_providers_end(browser: httpx.Client, provider: OidcProvider) -> None:
    signs_on(browser, provider, {"sub": "s-out"})
    said = browser.delete(SESSION).json()
    assert said["url"].startswith(f"{provider.issuer}/end?")
    assert browser.get(SESSION).status_code == 401
    assert browser.delete(SESSION).json() == {"ended": True}


def test_a_session_of_single_sign_on_is_not_prolonged(
    server: ServerProcess, browser: httpx.Client, provider: OidcProvider
) -> None:
    signs_on(browser, provider, {"sub": "s-long"})
    (before,) = browser.get("/api/v1/account/sessions").json()["sessions"]
    with at_a_browser(server) as elsewhere:
        signs_on(elsewhere, provider, {"sub": "s-long"})
        assert browser.delete("/api/v1/account/sessions", params={"others": True}).json()["ended"] == 1
        assert elsewhere.get(SESSION).status_code == 401
    (after,) = browser.get("/api/v1/account/sessions").json()["sessions"]
    assert (after["id"], after["expires_at"]) == (before["id"], before["expires_at"])


def test_who_is_kept_out_is_told_so(admin: ThreadsClient, browser: httpx.Client, provider: OidcProvider) -> None:
    signs_on(browser, provider, {"sub": "s-kept"})
    user_id = who(browser)["user_id"]
    admin.http.post(f"/api/v1/people/{user_id}/access", json={"allowed": False}).raise_for_status()
    assert browser.get(SESSION).status_code == 401
    assert reason(signs_on(browser, provider, {"sub": "s-kept"})) == (403, "kept_out", "")


def test_with_passwords_off_nobody_uses_one(
    server: ServerProcess, admin: ThreadsClient, provider: OidcProvider
) -> None:
    """The last test: the server starts anew."""
    key = admin.http.post("/api/v1/keys", json={"name": "mine"}).raise_for_status().json()["key"]
    server.stop()
    server.environment = {**server.environment, "INTERLOCK_PASSWORDS": "off"}
    server.start()
    given = {"username": "boss", "password": admin.password}
    with at_a_browser(server) as browser:
        welcome = browser.get("/api/v1/welcome").json()
        assert (welcome["passwords"], welcome["registration"], welcome["sign_on"]) == (False, False, "Test House")
        for path, body in (
            ("/api/auth/login", given),
            (SESSION, given),
            ("/api/auth/register", {"username": "late", "password": "wonderland"}),
        ):
            reply = browser.post(path, json=body)
            assert reason(reply)[:2] == (403, "passwords_off")
            assert "Test House" in reply.json()["detail"]
        signs_on(browser, provider, {"sub": "s-off", "preferred_username": "offline"})
        assert who(browser)["username"] == "offline"
        change = {"old_password": "wonderland", "new_password": "another one"}
        assert reason(browser.post("/api/v1/account/password", json=change))[:2] == (403, "passwords_off")
    # Keys hold, and so do sessions that were opened before.
    assert httpx.get(f"{server.url}{SESSION}", headers={"x-api-key": key}, timeout=60).status_code == 200
    for arguments in (["login", "--user", "boss"], ["users", "reset", "boss", *server.where]):
        variables = {"url": server.url, **{name[10:].lower(): value for name, value in provider_settings(server)}}
        done = command(*arguments, given="wonderland\nwonderland\n", variables=variables)
        assert done.returncode != 0
        assert "passwords are turned off" in done.stderr
        assert "--with-key" in done.stderr


def provider_settings(server: ServerProcess) -> Iterator[tuple[str, str]]:
    for name, value in server.environment.items():
        if name.startswith(("INTERLOCK_OIDC", "INTERLOCK_PUBLIC", "INTERLOCK_PASSWORDS")):
            yield name, value
