"""A server that goes away in the middle of a sentence and comes back: the page loses no word, and doubles none."""

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support import puppet
from tests.support.hitl import finished
from tests.support.people import FIRST, People
from tests.support.puppet import calls, flood, gate, says, script
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.conftest import Visit

TOKENS = 200

Ending = Callable[[ServerProcess, Page, Callable[[], None]], None]


@pytest.fixture
def mortal(tmp_path: Path, witness: Witness) -> Generator[ServerProcess]:
    """A server that keeps its address over its restarts."""
    process = ServerProcess(tmp_path / "data", agents=[puppet.SPEC], environment=witness.environment)
    process.start()
    process.port = int(process.url.rpartition(":")[2])
    try:
        yield process
    finally:
        process.close()


def killed(server: ServerProcess, page: Page, _: Callable[[], None]) -> None:
    server.kill()
    expect(page.get_by_text("No connection since").first).to_be_visible()


def stopped(server: ServerProcess, page: Page, release: Callable[[], None]) -> None:
    """As an operator stops it; the agent ends its sentence when nobody hears it any more."""
    with ThreadPoolExecutor(1) as aside:
        stopping = aside.submit(server.stop)
        expect(page.get_by_text("No connection since").first).to_be_visible()
        release()
        stopping.result()


@pytest.mark.parametrize("end", [killed, stopped])
def test_a_restart_in_the_middle_of_a_sentence_loses_and_doubles_no_word(
    mortal: ServerProcess, visit: Visit, witness: Witness, end: Ending
) -> None:
    name = f"restarted-{end.__name__}"
    turns = (
        calls(("note", {"name": name}), say=[flood(TOKENS, "before")]),
        says(flood(TOKENS, "half"), gate(name), flood(TOKENS, "whole")),
    )
    with People(mortal.url) as people:
        root = people.named(FIRST)
        page = visit(root, mortal.url).opens("/chat")
        say(page, script(*turns))
        expect(page.get_by_text(f"{TOKENS - 1} half")).to_be_visible()
        end(mortal, page, lambda: witness.release(name))
        mortal.start()
        witness.release(name)
        thread_id = page.url.rpartition("/")[2]
        wait_for(lambda: finished(root, thread_id), lambda text: f"{TOKENS - 1} whole" in text)
        history = [one["content"] for one in root.history(thread_id) if one["role"] == "assistant"]
    expect(page.get_by_text("The server restarted").first).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    paragraphs = page.get_by_role("region", name="Conversation").locator("p").all_inner_texts()
    told = [text.strip() for text in paragraphs if "before" in text or "half" in text or "whole" in text]
    assert told == [text.strip() for text in history]
    assert witness.count(name) == 1


def say(page: Page, message: str) -> None:
    page.get_by_label("Message").fill(message)
    page.get_by_label("Message").press("Enter")
