"""What a page with very much on it takes: memory of its process, and the time between frames while it is scrolled.

A frame is set against one of a page with nothing on it, scrolled right before: the best that the machine can do, busy
as it is.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from bench.table import Row, Table
from tests.servers.browser import browser as running_browser
from tests.support.hitl import of
from tests.support.inbox import told
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.web.person import Person

MOST_MEMORY = "300 MiB at the most"
MOST_FRAME = "17 ms at the most"
FRAMES = 240
CLICKS_COUNT_MS = 1_000
PLAIN = "<div data-review><div style='height: 600px; overflow: auto'><div style='height: 3000000px'></div></div></div>"
SCROLLED = """async (frames) => {
  const scroller = document.querySelector("[data-review] > div");
  const gaps = [];
  for (let last = performance.now(); gaps.length < frames; ) {
    scroller.scrollTop += 200;
    await new Promise((resolve) => requestAnimationFrame(resolve));
    gaps.push(performance.now() - last);
    last = performance.now();
  }
  return gaps.sort((one, other) => one - other);
}"""


@dataclass(frozen=True)
class Sizes:
    """How many arguments a call has, and how many lines a difference."""

    arguments: tuple[int, ...] = (300, 3_000, 10_000)
    lines: int = 50_000


SMALL = Sizes((300,), 1_000)


@contextmanager
def _serving(folder: Path) -> Generator[ServerProcess]:
    """A server with the demo agent, whose files it knows."""
    process = ServerProcess(folder / "pages", environment={"INTERLOCK_LOCALE": "en"})
    try:
        yield process.start()
    finally:
        process.close()


def _requests(server: ServerProcess, client: ThreadsClient, sizes: Sizes) -> Generator[tuple[str, str]]:
    """What is shown, and the request that asks it."""
    with of(client) as outside:
        for count in sizes.arguments:
            args = {f"argument_{number:05}": f"value {number}" for number in range(count)}
            yield f"{count:,} arguments", outside.ask("permission", {"tool_name": "bulk", "args": args})["request_id"]
    (server.data / "workspace" / "huge.txt").write_text("".join(f"line {number}\n" for number in range(sizes.lines)))
    (entry,) = told(client, "write huge.txt: replaced")
    yield f"a difference of {sizes.lines:,} lines", entry["request_id"]


def _memory(browser: Browser) -> int:
    """Mebibytes that the largest page of the browser holds."""
    session: Any = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")
    held = (_held(one["id"]) for one in found["processInfo"] if one["type"] == "renderer")
    return max(held) // 1024


def _held(process_id: int) -> int:
    status = Path(f"/proc/{process_id}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


@dataclass(frozen=True)
class Scrolled:
    """Milliseconds of a frame while a page was scrolled, and how many of them its own work took."""

    median: float
    work: float


def _scrolled(page: Page) -> Scrolled:
    session: Any = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    before = _work(session)
    gaps: list[float] = page.evaluate(SCROLLED, FRAMES)
    return Scrolled(gaps[FRAMES // 2], (_work(session) - before) / FRAMES)


def _work(session: Any) -> float:
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return metrics["TaskDuration"] * 1000


def _nothing(browser: Browser) -> tuple[Scrolled, int]:
    """A page with nothing on it: the best that the machine can do now."""
    plain = browser.new_page()
    plain.set_content(PLAIN)
    try:
        return _scrolled(plain), _memory(browser)
    finally:
        plain.close()


def _measure(table: Table, name: str, browser: Browser, person: Person, path: str, *, edited: bool) -> None:
    plain, least = _nothing(browser)
    page = person.opens(path)
    page.wait_for_selector("[data-bar]")
    if edited:
        # Clicks count when there was a pause before them.
        page.wait_for_timeout(CLICKS_COUNT_MS)
        page.locator("[data-act=edit]").click()
        page.locator("[data-end]").wait_for(state="attached")
    frames = _scrolled(page)
    page.evaluate("() => { const one = document.querySelector('[data-review] > div'); one.scrollTop = 1e9; }")
    page.wait_for_function("() => document.querySelector('[data-obstacle=unread]') === null")
    name = f"{name}, edited" if edited else name
    table.add(Row("pages", f"a frame, {name}", frames.median, plain.median, "ms", "nothing", MOST_FRAME))
    table.add(Row("pages", f"work of a frame, {name}", frames.work, plain.work, "ms", "nothing"))
    table.add(Row("pages", f"memory, {name}", _memory(browser), least, "MiB", "nothing", MOST_MEMORY))


def against_nothing(table: Table, folder: Path, sizes: Sizes) -> None:
    with _serving(folder) as server, running_browser() as browser, People(server.url) as people:
        client = people.named("reviewer")
        for name, request_id in _requests(server, client, sizes):
            for edited in (False, True):
                person = Person(browser, server.url, client, {})
                _measure(table, name, browser, person, f"/requests/{request_id}", edited=edited)
                person.leave()
