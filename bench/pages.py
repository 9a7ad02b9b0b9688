"""What a page with very much on it takes: memory of its process, and the time between frames while it is scrolled.

`python -m bench.pages`. A frame is set against one of a page with nothing on it, scrolled right before: the best that
the machine can do, busy as it is.
"""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tests.servers.browser import browser as running_browser
from tests.support.hitl import of
from tests.support.inbox import told
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.web.person import Person

ARGUMENTS = (300, 3_000, 10_000)
LINES = 50_000
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


@contextmanager
def serving() -> Generator[ServerProcess]:
    """A server with the demo agent, whose files it knows."""
    with tempfile.TemporaryDirectory() as folder:
        process = ServerProcess(Path(folder), environment={"INTERLOCK_LOCALE": "en"})
        try:
            yield process.start()
        finally:
            process.close()


def requests(server: ServerProcess, client: ThreadsClient) -> Generator[tuple[str, str]]:
    """What is shown, and the request that asks it."""
    with of(client) as outside:
        for count in ARGUMENTS:
            args = {f"argument_{number:05}": f"value {number}" for number in range(count)}
            yield f"{count:,} arguments", outside.ask("permission", {"tool_name": "bulk", "args": args})["request_id"]
    (server.data / "workspace" / "huge.txt").write_text("".join(f"line {number}\n" for number in range(LINES)))
    (entry,) = told(client, "write huge.txt: replaced")
    yield f"a difference of {LINES:,} lines", entry["request_id"]


def memory(browser: Browser) -> int:
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
    most: float
    work: float

    def against(self, plain: "Scrolled") -> str:
        ratio = self.median / plain.median
        frames = f"{self.median:.1f} ms a frame ({ratio:.2f} of nothing), {self.most:.1f} ms for 95 of 100"
        return f"{frames}, {self.work:.1f} ms of work"


def scrolled(page: Page) -> Scrolled:
    session: Any = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    before = _work(session)
    gaps: list[float] = page.evaluate(SCROLLED, FRAMES)
    work = (_work(session) - before) / FRAMES
    return Scrolled(gaps[FRAMES // 2], gaps[FRAMES * 95 // 100], work)


def _work(session: Any) -> float:
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return metrics["TaskDuration"] * 1000


def scrolled_plain(browser: Browser) -> Scrolled:
    """A page with nothing on it, right before: the best that the machine can do now."""
    plain = browser.new_page()
    plain.set_content(PLAIN)
    try:
        return scrolled(plain)
    finally:
        plain.close()


def measured(browser: Browser, page: Page) -> str:
    plain = scrolled_plain(browser)
    loaded = memory(browser)
    frames = scrolled(page)
    page.evaluate("() => { const one = document.querySelector('[data-review] > div'); one.scrollTop = 1e9; }")
    page.wait_for_function("() => document.querySelector('[data-obstacle=unread]') === null")
    return f"{loaded} MiB, {memory(browser)} MiB at its end; {frames.against(plain)}"


def edits(page: Page) -> None:
    """The form for the call is open."""
    page.locator("[data-act=edit]").click()
    page.locator("[data-end]").wait_for(state="attached")


def main() -> None:
    with serving() as server, running_browser() as browser, People(server.url) as people:
        client = people.named("reviewer")
        for name, request_id in requests(server, client):
            for act in (None, edits):
                person = Person(browser, server.url, client, {})
                page = person.opens(f"/requests/{request_id}")
                page.wait_for_selector("[data-bar]")
                if act is not None:
                    # Clicks count when there was a pause before them.
                    page.wait_for_timeout(CLICKS_COUNT_MS)
                    act(page)
                print(f"{name}{', edited' if act else ''}: {measured(browser, page)}", flush=True)
                person.leave()


if __name__ == "__main__":
    main()
