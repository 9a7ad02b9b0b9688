"""What holds for every page: nothing from elsewhere, no policy broken, little to load, room on a phone, axe content."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, Response, expect

from tests.support.people import FIRST, People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.web.conftest import Visit
from tests.web.person import DESKTOP, PHONE, Person
from tests.web.reviewing import waits
from tests.web.stage import every_page, shown

AXE = Path(__file__).parents[2] / "packages" / "web" / "node_modules" / "axe-core" / "axe.min.js"
FIRST_LOAD = 250_000
"""Bytes, as they come over the wire."""

# Of two looks at one page the second one is for its colours.
FAULTS = """async (rules) => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"], ...rules });
  const grave = violations.filter((one) => ["serious", "critical"].includes(one.impact));
  return grave.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`);
}"""
# A table of an agent's may scroll by itself. In what is folded up, no layout is kept true.
WIDE = """async () => {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const isWide = (element) => element.scrollWidth > element.clientWidth + 1;
  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const isTable = (element) => element.firstElementChild?.tagName === "TABLE";
  const seen = [...document.querySelectorAll("main, main *, dialog *")].filter((one) => one.checkVisibility());
  const inner = seen.filter((one) => isWide(one) && scrolls(one) && !isTable(one));
  const page = document.scrollingElement.scrollWidth > innerWidth ? [document.documentElement] : [];
  const told = (one) => `${one.tagName} ${one.className} ${one.scrollWidth}>${one.clientWidth} ${one.innerText}`;
  return [...page, ...inner].map((one) => told(one).slice(0, 200));
}"""
VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
"""


class Inspector:
    """Looks at pages in both colours, and hears what they load."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.faults: dict[str, list[str]] = {}
        self.wide: dict[str, list[str]] = {}
        self.violations: list[str] = []
        self.hosts: set[str] = set()
        self.policies: set[str] = set()
        self._axe = AXE.read_text()
        page.add_init_script(VIOLATIONS)
        page.on("request", self._asked)
        page.on("response", self._answered)
        page.reload()

    def looks(self, name: str) -> None:
        """Axe on a desktop, then whether it fits a phone."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(self._axe)
        for scheme in self._schemes():
            rules = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
            self._note(self.faults, f"{name}, {scheme}", FAULTS, rules)
        self.page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
        self.fits(name)
        self.page.set_viewport_size({"width": DESKTOP["width"], "height": DESKTOP["height"]})
        self.violations += self.page.evaluate("violations.splice(0)")

    def fits(self, name: str) -> None:
        for scheme in self._schemes():
            self._note(self.wide, f"{name}, {scheme}", WIDE)

    def _schemes(self) -> Generator[str]:
        for scheme in ("dark", "light"):
            self.page.emulate_media(color_scheme=scheme)
            expect(self.page.locator("html")).to_have_attribute("data-theme", scheme)
            yield scheme

    def _note(self, notes: dict[str, list[str]], name: str, look: str, given: object = None) -> None:
        if found := self.page.evaluate(look, given):
            notes[name] = found

    def _asked(self, request: Request) -> None:
        self.hosts.add("/".join(request.url.split("/")[:3]))

    def _answered(self, response: Response) -> None:
        if response.request.resource_type == "document":
            self.policies.add(response.headers.get("content-security-policy", ""))


@pytest.fixture(scope="module")
def resident(people: People) -> ThreadsClient:
    return people.named("resident")


@pytest.fixture(scope="module")
def pages(resident: ThreadsClient) -> dict[str, str]:
    return every_page(resident)


@pytest.fixture(scope="module")
def inspected(
    browser: Browser, server: ServerProcess, resident: ThreadsClient, pages: dict[str, str]
) -> Generator[Inspector]:
    """Every page, looked at."""
    person = Person(browser, server.url, resident, {})
    inspector = Inspector(person.opens())
    for name, path in pages.items():
        shown(inspector.page, path)
        inspector.looks(name)
    yield inspector
    person.leave()


def test_axe_finds_nothing_serious_on_any_page_in_light_or_dark(inspected: Inspector) -> None:
    assert inspected.faults == {}


def test_no_page_scrolls_sideways_on_a_phone(inspected: Inspector) -> None:
    assert inspected.wide == {}


def test_no_page_asks_another_host_for_anything(inspected: Inspector, server: ServerProcess) -> None:
    assert inspected.hosts == {server.url}


def test_no_page_breaks_the_policy_that_it_came_with(inspected: Inspector) -> None:
    (policy,) = inspected.policies
    for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "require-trusted-types-for 'script'"):
        assert part in policy.split("; ")
    assert inspected.violations == []


def test_no_page_scrolls_sideways_on_a_phone_in_chinese(
    resident: ThreadsClient, visit: Visit, pages: dict[str, str]
) -> None:
    inspector = Inspector(visit(resident, locale="zh-CN", viewport=PHONE).opens())
    for name, path in pages.items():
        shown(inspector.page, path)
        expect(inspector.page.locator("html")).to_have_attribute("lang", "zh-CN")
        inspector.fits(name)
    assert inspector.wide == {}


def opens_editor(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["permission"])
    waits(page)
    page.keyboard.press("e")
    json = page.get_by_role("group", name="Edit as").get_by_role("button", name="JSON")
    json.wait_for()
    waits(page)
    json.click()
    expect(page.get_by_role("textbox", name="JSON of all arguments")).to_be_visible()


def opens_refusal(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["command"])
    waits(page)
    page.keyboard.press("r")
    expect(page.get_by_label("Reason")).to_be_focused()


def opens_batch(page: Page, pages: dict[str, str]) -> None:
    shown(page, f"{pages['inbox']}?risk=low")
    page.get_by_label("Select for a batch").first.check()
    page.keyboard.press("b")
    expect(page.get_by_role("dialog").get_by_text("end ·").first).to_be_visible()


def opens_help(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["inbox"])
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


def opens_account(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["inbox"])
    page.get_by_role("button", name="account and more").click()


def opens_record(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["history"])
    page.get_by_role("listitem").filter(has_text="refused").locator("summary").click()
    expect(page.get_by_text("Hash").first).to_be_visible()


def test_neither_forms_nor_dialogs_have_faults(resident: ThreadsClient, visit: Visit, pages: dict[str, str]) -> None:
    person = visit(resident)
    person.context.clock.install()
    inspector = Inspector(person.opens())
    for opens in (opens_editor, opens_refusal, opens_batch, opens_help, opens_account, opens_record):
        opens(inspector.page, pages)
        inspector.looks(opens.__name__)
        inspector.page.keyboard.press("Escape")
    person.context.clear_cookies()
    inspector.page.goto("/login")
    expect(inspector.page.get_by_role("heading", name="Sign in to Interlock")).to_be_visible()
    inspector.looks("login")
    assert (inspector.faults, inspector.wide, inspector.violations) == ({}, {}, [])


@pytest.fixture
def differing(tmp_path: Path) -> Generator[ServerProcess]:
    """A server with the demo agent alone: it knows that agent's files."""
    process = ServerProcess(tmp_path / "data", environment={"INTERLOCK_LOCALE": "en"})
    try:
        yield process.start()
    finally:
        process.close()


def test_a_difference_has_no_faults(differing: ServerProcess, visit: Visit) -> None:
    lines = "".join(f"line {number} {'of many words ' * 20}\n" for number in range(60))
    (differing.data / "workspace" / "long.txt").write_text(lines)
    with People(differing.url) as people:
        owner = people.named(FIRST)
        owner.chat(owner.new_thread(), 'replace "line 30" with "LINE THIRTY" in long.txt')
        (entry,) = owner.http.get("/api/v1/inbox").json()["requests"]
        inspector = Inspector(visit(owner, differing.url).opens())
        shown(inspector.page, f"/requests/{entry['request_id']}")
        expect(inspector.page.get_by_text("LINE THIRTY").first).to_be_visible()
        inspector.looks("difference")
    assert (inspector.faults, inspector.wide, inspector.violations) == ({}, {}, [])


def test_the_first_load_is_small_and_packed(owner: ThreadsClient, visit: Visit) -> None:
    person = visit(owner)
    page = person.context.new_page()
    sizes: list[float] = []
    devtools: Any = person.context.new_cdp_session(page)
    devtools.send("Network.enable")

    def loaded(event: dict[str, Any]) -> None:
        sizes.append(event["encodedDataLength"])

    devtools.on("Network.loadingFinished", loaded)
    with page.expect_response("**/assets/index-*.js") as script:
        page.goto("/inbox")
    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    assert script.value.headers["content-encoding"] == "gzip"
    assert 50_000 < sum(sizes) < FIRST_LOAD
