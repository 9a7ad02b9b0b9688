"""Settings, Notifications and Channels, and the real service worker; push service and screen are the test's."""

import json
import re
from collections.abc import Generator
from typing import Any

import pytest
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import Locator, Page, expect

from tests.support.inbox import answer, asked, view
from tests.support.mail_server import MailServer, text_of
from tests.support.people import FIRST, People
from tests.support.push_service import Browser, PushService
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.web.conftest import Visit
from tests.web.inspecting import Inspector
from tests.web.person import Person

CHANNELS, OWN = "/api/v1/channels", "/api/v1/me/addresses"
SECRET = "argument-that-stays-here"
# In place of the machine's own: a person who allows it, and a subscription, for which the maker's service is needed.
MACHINE = """{
  const given = GIVEN;
  let made = null;
  let permission = "default";
  Object.defineProperty(Notification, "permission", { get: () => permission });
  Notification.requestPermission = async () => (permission = ANSWER);
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
  PushManager.prototype.getSubscription = async () => made;
  PushManager.prototype.subscribe = async function ({ applicationServerKey, userVisibleOnly }) {
    if (!userVisibleOnly) throw new Error("each push has to be shown");
    const unsubscribe = async () => { made = null; return true; };
    const options = { applicationServerKey: bytes(applicationServerKey).buffer };
    made = { endpoint: given.endpoint, options, toJSON: () => given, unsubscribe };
    return made;
  };
}"""
# A browser without a window has no screen for them. By its tag each is shown once.
SCREEN = """() => {
  self.shown = [];
  ServiceWorkerRegistration.prototype.showNotification = async (title, options) => {
    self.shown = [...self.shown.filter((one) => one.tag !== options.tag), { title, ...options }];
  };
}"""
CLICKED = """async (notification) => {
  let opened = null;
  Clients.prototype.openWindow = async (address) => { opened = address; };
  let done = null;
  const waitUntil = (promise) => { done = promise; };
  const clicked = { notification: { ...notification, close() {} }, waitUntil };
  self.dispatchEvent(Object.assign(new Event("notificationclick"), clicked));
  await done;
  return opened;
}"""
WORKER = """async () => {
  const registrations = await navigator.serviceWorker.getRegistrations();
  return registrations.map(({ active, scope }) => [active?.scriptURL, scope, navigator.serviceWorker.controller]);
}"""


@pytest.fixture(scope="module")
def root(people: People) -> ThreadsClient:
    return people.named(FIRST)


@pytest.fixture(scope="module")
def mail() -> Generator[MailServer]:
    with MailServer() as listening:
        yield listening


@pytest.fixture(autouse=True)
def without_channels(root: ThreadsClient) -> Generator[None]:
    """Other tests of this server are about other things."""
    yield
    for one in root.http.get(CHANNELS).raise_for_status().json()["channels"]:
        root.http.delete(f"{CHANNELS}/{one['id']}").raise_for_status()


def mail_channel(root: ThreadsClient, mail: MailServer, settings: dict[str, str] | None = None, **more: str) -> str:
    place = {"host": "127.0.0.1", "port": mail.port, "security": "none", "sender": "interlock@x.example"}
    body = {"kind": "mail", "name": "Company mail", **more, "settings": {**place, **(settings or {})}}
    return root.http.post(CHANNELS, json=body).raise_for_status().json()["id"]


def push_channel(root: ThreadsClient) -> str:
    body: dict[str, Any] = {"kind": "web-push", "name": "Browsers", "settings": {}}
    return root.http.post(CHANNELS, json=body).raise_for_status().json()["id"]


def machine(browser: Browser, answer: str = "granted") -> str:
    return MACHINE.replace("GIVEN", json.dumps(browser.subscription)).replace("ANSWER", json.dumps(answer))


def row(place: Page | Locator, text: str) -> Locator:
    return place.get_by_role("listitem").filter(has_text=text)


class Push:
    """The way from the push service to the browser's worker, by the browser's own tools."""

    def __init__(self, person: Person, page: Page, service: PushService, browser: Browser) -> None:
        self._url, self._page, self._service, self._browser = person.url, page, service, browser
        self._ids: list[str] = []
        self._delivered = 0
        self._tools: Any = person.context.new_cdp_session(page)
        (self.worker,) = person.context.service_workers
        self.worker.evaluate(SCREEN)
        self._tools.on("ServiceWorker.workerRegistrationUpdated", self._hear)
        self._tools.send("ServiceWorker.enable")

    def arrives(self, title: str) -> list[dict[str, Any]]:
        """The next one that was pushed is handed over; what is shown once it is of that title."""
        count = self._delivered + 1
        *_, told = self._service.waits(self._browser, lambda seen: len(seen) == count)
        self._delivered = count
        data = {"origin": self._url, "registrationId": self._registration(), "data": json.dumps(told)}
        self._tools.send("ServiceWorker.deliverPushMessage", data)
        return wait_for(
            lambda: self.worker.evaluate("self.shown"), lambda seen: title in [one["title"] for one in seen]
        )

    def _registration(self) -> str:
        wait_for(lambda: (self._page.evaluate("1"), list(self._ids))[1], bool)
        return self._ids[-1]

    def _hear(self, told: dict[str, Any]) -> None:
        self._ids += [one["registrationId"] for one in told["registrations"] if not one["isDeleted"]]


@pytest.mark.promise("P28", "P29")
def test_a_browser_is_turned_on_by_a_click_told_by_its_worker_and_turned_off(
    root: ThreadsClient, owner: ThreadsClient, visit: Visit, push: PushService
) -> None:
    push_channel(root)
    owner.http.put("/api/v1/me/notifications", json={"language": "en"}).raise_for_status()
    person, browser = visit(owner), push.browser()
    person.context.add_init_script(machine(browser))
    page = person.opens("/settings/notifications")
    expect(page.get_by_role("heading", name="Browsers")).to_be_visible()
    assert page.evaluate(WORKER) == []
    page.get_by_role("button", name="Turn on in this browser").press("Enter")
    expect(row(page, "localhost")).to_contain_text("this browser")
    assert page.evaluate(WORKER) == [[f"{person.url}/push-worker.js", f"{person.url}/push/", None]]

    way = Push(person, page, push, browser)
    page.get_by_role("button", name="Send a test: localhost").press("Enter")
    (test,) = way.arrives("Browsers works: this is a test message")
    (entry,) = asked(owner, ("execute", {"command": SECRET}))
    told = next(one for one in way.arrives("Approval needed: puppet") if one["tag"] == entry["request_id"])
    assert (told["silent"], "actions" in told) == (False, False)
    where = f"{person.url}/requests/{entry['request_id']}"
    assert way.worker.evaluate(CLICKED, {"data": told["data"]}) == where
    elsewhere = {"data": {"path": "//evil.example/x"}}
    assert way.worker.evaluate(CLICKED, elsewhere) is None
    assert "execute" in told["body"]
    answer(owner, entry["request_id"], {"decision": "reject"}).raise_for_status()
    # In its place, without a sound.
    (ended,) = [one for one in way.arrives("Refused") if one["tag"] == entry["request_id"]]
    assert (ended["title"], ended["silent"]) == ("Refused", True)
    assert SECRET not in str([test, told, ended])

    page.get_by_role("button", name="Unlink: localhost").press("Enter")
    expect(page.get_by_text("You are not told here yet.")).to_be_visible()
    expect(page.get_by_role("heading", name="Browsers")).to_be_focused()
    wait_for(lambda: page.evaluate(WORKER), lambda seen: seen == [])
    assert owner.http.get(OWN).json()["channels"][0]["addresses"] == []


def test_whoever_signs_out_is_not_told_at_that_browser_any_more(
    root: ThreadsClient, people: People, server: ServerProcess, visit: Visit, push: PushService
) -> None:
    push_channel(root)
    own = people.named("telling-leaver").http
    leaving = ThreadsClient(server.url, "telling-leaver").sign_in()
    person = visit(leaving)
    person.context.add_init_script(machine(push.browser()))
    page = person.opens("/settings/notifications")
    page.get_by_role("button", name="Turn on in this browser").click()
    expect(row(page, "localhost")).to_contain_text("this browser")
    page.get_by_role("button", name="telling-leaver: account and more").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert page.evaluate(WORKER) == []
    assert own.get(OWN).json()["channels"][0]["addresses"] == []
    leaving.http.close()


def test_a_browser_that_blocks_notifications_is_told_how_to_allow_them(
    root: ThreadsClient, owner: ThreadsClient, visit: Visit, push: PushService
) -> None:
    push_channel(root)
    person = visit(owner)
    person.context.add_init_script(machine(push.browser(), "denied"))
    page = person.opens("/settings/notifications")
    page.get_by_role("button", name="Turn on in this browser").click()
    expect(page.get_by_role("alert")).to_contain_text("Allow them in its site settings")
    assert page.evaluate(WORKER) == []


def test_a_mail_address_is_linked_by_its_code_and_everybody_says_when_they_are_told(
    root: ThreadsClient, owner: ThreadsClient, visit: Visit, mail: MailServer
) -> None:
    channel_id = mail_channel(root, mail)
    page = visit(owner, timezone_id="Asia/Shanghai").opens("/settings/notifications")
    page.get_by_label("Address").fill("nobody")
    page.get_by_role("button", name="Send code").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("This address cannot be used")
    page.get_by_label("Address").fill("ann@x.example")
    before = len(mail.mails)
    page.get_by_role("button", name="Send code").press("Enter")
    code = mail.wait_for(before + 1)[before]["Subject"][-8:]
    field = page.get_by_label("Code")
    expect(field).to_be_focused()
    field.fill("WRONG")
    field.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("wrong or too old")
    field.fill(code)
    field.press("Enter")
    expect(row(page, "ann@x.example")).to_be_visible()
    page.get_by_role("button", name="Send a test: ann@x.example").click()
    expect(page.get_by_role("main").get_by_text("A test was sent.")).to_be_visible()

    page.get_by_label("Quiet hours").check()
    expect(page.get_by_label("Time zone")).to_have_value("Asia/Shanghai")
    page.get_by_label("Time zone").fill("Nowhere/At-all")
    page.get_by_label("Until").fill("06:30")
    page.get_by_label("Requests of low risk").select_option("15")
    page.get_by_label("Language of notices").select_option("zh")
    save = page.get_by_role("button", name="Save")
    save.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("There is no such time zone.")
    page.get_by_label("Time zone").fill("Europe/Berlin")
    save.press("Enter")
    expect(page.get_by_role("main").get_by_text("Saved.")).to_be_visible()
    wants = page.get_by_label("Tell me here")
    wants.click()
    quiet = {"start": "22:00", "end": "06:30", "zone": "Europe/Berlin", "high_passes": True}
    wanted = {"off": [channel_id], "quiet": quiet, "language": "zh", "answer_links": False, "digest": 15}
    wait_for(lambda: owner.http.get("/api/v1/me/notifications").json(), lambda seen: seen == wanted)
    page.reload()
    expect(wants).not_to_be_checked()
    expect(page.get_by_label("Until")).to_have_value("06:30")
    expect(page.get_by_label("Requests of low risk")).to_have_value("15")


def test_an_admin_adds_tries_and_removes_channels(
    root: ThreadsClient, people: People, visit: Visit, mail: MailServer
) -> None:
    page = visit(root).opens("/settings/channels")
    add = page.get_by_role("button", name="Add channel…")
    add.press("Enter")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name=re.compile("^Kind")).select_option("mail")
    dialog.get_by_label(re.compile("^Name")).fill("Company mail")
    dialog.get_by_label("Encryption").select_option("none")
    dialog.get_by_label("Port").fill("no number")
    dialog.get_by_label("Address that mails come from").fill("interlock@x.example")
    dialog.get_by_role("button", name="Add").press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("port is a number")
    dialog.get_by_label("Port").fill(str(mail.port))
    dialog.get_by_label("Password").fill("hush")
    dialog.get_by_role("button", name="Add").press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("a user name and a password come together")
    dialog.get_by_label("Password").fill("")
    dialog.get_by_role("button", name="Add").press("Enter")
    expect(row(page, "Company mail")).to_contain_text("0 waiting")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Test: Company mail").press("Enter")
    before = len(mail.mails)
    dialog.get_by_label("Address").fill("ann@x.example")
    dialog.get_by_role("button", name="Send").press("Enter")
    expect(dialog).to_have_count(0)
    assert mail.wait_for(before + 1)[before]["To"] == "ann@x.example"
    add.press("Enter")
    dialog.get_by_role("combobox", name=re.compile("^Kind")).select_option("web-push")
    dialog.get_by_role("button", name="Add").press("Enter")
    expect(row(page, "web-push")).to_have_count(1)
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Remove: Company mail").press("Enter")
    dialog.get_by_role("button", name="Remove this channel").press("Enter")
    expect(row(page, "Company mail")).to_have_count(0)
    other = visit(people.named("telling-bob")).opens("/settings/channels")
    expect(other.get_by_role("heading", name="Page not found")).to_be_visible()


def test_a_chat_is_set_up_on_the_page_and_an_account_of_it_linked_by_the_code_that_comes_from_there(
    root: ThreadsClient, owner: ThreadsClient, visit: Visit
) -> None:
    page = visit(root).opens("/settings/channels")
    page.get_by_role("button", name="Add channel…").press("Enter")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name=re.compile("^Kind")).select_option("slack")
    typed = {"Workspace id": "T0123", "App id": "wrong", "Bot token": "xoxb-1", "Signing secret": "hush"}
    for label, text in {**typed, "Address of the API": "https://127.0.0.1:1/api"}.items():
        dialog.get_by_label(label).fill(text)
    dialog.get_by_label("Connection").select_option("http")
    dialog.get_by_role("button", name="Add").press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("app is an id such as A0123ABCD")
    dialog.get_by_label("App id").fill("A0123")
    dialog.get_by_role("button", name="Add").press("Enter")
    expect(row(page, "slack")).to_contain_text("0 waiting")

    own = visit(owner).opens("/settings/notifications")
    own.get_by_role("button", name="Get a code").press("Enter")
    code = own.get_by_role("status").locator("code")
    expect(code).to_have_text(re.compile(r"^[A-Z0-9-]{8,}$"))
    page.get_by_role("button", name="Remove: slack").press("Enter")
    dialog.get_by_role("button", name="Remove this channel").press("Enter")
    expect(row(page, "slack")).to_have_count(0)


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_axe_finds_nothing_and_nothing_is_too_wide(
    root: ThreadsClient, owner: ThreadsClient, visit: Visit, mail: MailServer, push: PushService, locale: str
) -> None:
    mail_channel(root, mail)
    channel_id = push_channel(root)
    for one in (push.browser(), push.browser()):
        body = {"channel_id": channel_id, **one.subscription}
        owner.http.post(f"{OWN}/browser", json=body).raise_for_status()
    quiet = {"start": "22:00", "end": "07:00", "zone": "Europe/Berlin"}
    owner.http.put("/api/v1/me/notifications", json={"quiet": quiet}).raise_for_status()
    told = visit(owner, locale=locale).opens("/settings/notifications")
    managed = visit(root, locale=locale).opens("/settings/channels")
    inspectors = [Inspector(page) for page in (told, managed)]
    expect(row(told, "localhost")).to_have_count(2)
    expect(row(managed, "Company mail")).to_be_visible()
    for inspector in inspectors:
        inspector.looks("page")
    buttons = managed.get_by_role("main").get_by_role("button")
    for button in (buttons.first, *row(managed, "Company mail").get_by_role("button").all()):
        button.click()
        expect(managed.get_by_role("dialog")).to_be_visible()
        inspectors[1].looks("dialog")
        managed.keyboard.press("Escape")
    assert [one.faults for one in inspectors] == [{}, {}]
    assert [one.wide for one in inspectors] == [{}, {}]


@pytest.mark.promise("P26", "P29", "P30")
def test_a_mail_leads_to_a_page_that_takes_an_answer_in_two_acts_without_a_sign_in(
    root: ThreadsClient, owner: ThreadsClient, visit: Visit, mail: MailServer, browser: Chromium
) -> None:
    channel_id = mail_channel(root, mail, {"answers": "link"}, shows="full", ceiling="medium")
    owner.http.put("/api/v1/me/notifications", json={"language": "en"}).raise_for_status()
    before = len(mail.mails)
    owner.http.post(OWN, json={"channel_id": channel_id, "address": "by-link@x.example"}).raise_for_status()
    code = mail.wait_for(before + 1)[before]["Subject"].rpartition(" ")[2]
    owner.http.post(f"{OWN}/confirm", json={"channel_id": channel_id, "code": code}).raise_for_status()
    settings = visit(owner).opens("/settings/notifications")
    settings.get_by_role("checkbox", name="Let me answer from my mails").check()
    expect(settings.get_by_text("Whoever has the mail can answer as you")).to_be_visible()
    settings.get_by_role("button", name="Save").click()
    expect(settings.get_by_role("status").or_(settings.get_by_text("Saved.")).first).to_be_visible()

    (entry,) = asked(owner, ("guarded", {"name": "<b>harmless</b>"}))
    told = text_of(mail.wait_for(before + 2)[before + 1])
    (link,) = re.findall(r"/answer#[\w-]{22}", told)
    stranger = browser.new_context(base_url=settings.url.removesuffix("/settings/notifications"), locale="en-GB")
    page, calls = stranger.new_page(), list[str]()
    inspector = Inspector(page)
    page.on("request", lambda one: calls.append(f"{one.method} {one.url}"))
    page.goto(link)
    expect(page.get_by_role("heading", name="Approval needed: puppet")).to_be_focused()
    assert page.url.endswith("/answer")
    assert not [one for one in calls if link.removeprefix("/answer#") in one]
    expect(page.get_by_label("What will run, whole")).to_contain_text("<b>harmless</b>")
    inspector.looks("what is asked")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", name="Approve guarded?")).to_be_visible()
    expect(page.get_by_label("What will run, whole")).to_contain_text("<b>harmless</b>")
    assert view(owner, entry)["status"] == "pending"
    page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("button", name="Yes").click()
    expect(page.get_by_role("heading", name="Approved")).to_be_visible()
    expect(page.get_by_role("button")).to_have_count(0)
    inspector.looks("what was answered")
    settled = view(owner, entry)
    assert (settled["status"], settled["source"], settled["answered_by"]) == ("answered", "mail", owner.username)

    page.goto("about:blank")
    page.goto(link)
    expect(page.get_by_role("status")).to_contain_text("It was over before")
    # Whoever is not signed in sees nothing else of it.
    page.get_by_role("link", name="Sign in and open it in Interlock").click()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    page.goto("about:blank")
    page.goto(f"/answer#{'x' * 22}")
    expect(page.get_by_role("heading", name="This link is over")).to_be_visible()
    inspector.looks("what is over")
    assert (inspector.faults, inspector.wide) == ({}, {})
    stranger.close()
    log = wait_for(lambda: root.http.get("/api/v1/audit").text, lambda seen: entry["request_id"] in seen)
    assert link.removeprefix("/answer#") not in log
