"""A server that dies while it is answered: the page says nothing that it does not know, and then tells the truth."""

import re
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.support import puppet
from tests.support.inbox import INBOX, answer, view
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.person import Person
from tests.web.reviewing import Review, asks, opened

UNSURE = "Sent, no reply. Checking… don’t assume that it ran."
CHINESE = re.compile("[\u4e00-\u9fff]")
# Everything that the place of the answer ever says.
LISTEN = """() => {
  window.said = [];
  const bar = document.querySelector('[aria-label="Answer"]');
  new MutationObserver(() => window.said.push(bar.innerText)).observe(bar, { subtree: true, childList: true });
}"""


@pytest.fixture
def own(tmp_path: Path, witness: Witness) -> Generator[ServerProcess]:
    """A server of its own, not started yet."""
    environment = {**witness.environment, "INTERLOCK_LEASE_SECONDS": "3"}
    process = ServerProcess(tmp_path / "data", agents=[puppet.SPEC], environment=environment)
    yield process
    process.close()


@pytest.fixture
def reviewing(browser: Browser, own: ServerProcess, request: pytest.FixtureRequest) -> Generator[Person]:
    """Somebody at that server, which is started with the failpoints that the test names."""
    own.start(failpoints=getattr(request, "param", ""))
    own.port = int(own.url.rpartition(":")[2])
    with People(own.url) as people:
        person = Person(browser, own.url, people.named("root"), {})
        person.takes_the_clock()
        yield person
        person.leave()


def dies_of(review: Review, own: ServerProcess) -> None:
    """Approving ends the server; the page knows nothing, and says so."""
    review.page.evaluate(LISTEN)
    review.chooses("Approve")
    own.wait_until_dead()
    review.ends(UNSURE)
    expect(review.bar.get_by_role("button")).to_have_count(0)


def never_claimed_success(review: Review) -> None:
    said: list[str] = review.page.evaluate("window.said")
    assert any(UNSURE in words for words in said)
    assert not [words for words in said if "Approved" in words]


@pytest.mark.parametrize("reviewing", ["answer.committed=kill", "answer.committing=kill"], indirect=True)
def test_of_an_answer_without_a_reply_the_page_asks_what_became_of_it_and_sends_nothing_anew(
    reviewing: Person, own: ServerProcess, witness: Witness, request: pytest.FixtureRequest
) -> None:
    name = f"cut-{request.node.callspec.id}"
    review = opened(reviewing, asks(reviewing, "guarded", name=name))
    dies_of(review, own)
    never_claimed_success(review)
    own.start()
    if "committing" in name:
        review.ends("Your answer never reached the server and will not be sent again: nothing was done.")
        assert (len(review.sent), review.told()["status"], witness.count(name)) == (1, "pending", 0)
        review.chooses("Approve")
    review.ends("Approved at")
    assert len(review.sent) == (2 if "committing" in name else 1)
    wait_for(lambda: witness.count(name), lambda count: count > 0)
    assert review.finished() == f"done {name}"
    assert witness.count(name) == 1


@pytest.mark.parametrize("reviewing", ["answer.committing=kill"], indirect=True)
def test_an_answer_that_others_overtook_is_told_as_not_used(
    reviewing: Person, own: ServerProcess, witness: Witness
) -> None:
    review = opened(reviewing, asks(reviewing, "guarded", name="overtaken"))
    dies_of(review, own)
    reviewing.context.set_offline(True)
    own.start()
    answer(reviewing.client, review.request_id, {"decision": "reject"}).raise_for_status()
    never_claimed_success(review)
    reviewing.context.set_offline(False)
    review.ends("You refused this at")
    review.ends("Your answer did not reach the server and was not used.")
    never_claimed_success(review)
    assert review.finished().startswith("A person refused")
    assert witness.count("overtaken") == 0


def test_without_a_connection_nothing_is_answered_and_drafts_stay(
    reviewing: Person, own: ServerProcess, witness: Witness
) -> None:
    review = opened(reviewing, asks(reviewing, "guarded", name="offline"))
    review.press("m")
    review.page.get_by_label("What the agent is told").fill("begun before")
    own.kill()
    review.ends("No connection since")
    review.press("a", "r", "1", "Control+Enter")
    expect(review.bar.get_by_role("button")).to_have_text(["Try again"])
    own.start()
    expect(review.page.get_by_label("What the agent is told")).to_have_value("begun before")
    expect(review.bar.get_by_role("status")).to_contain_text("The server restarted at")
    review.is_open()
    review.chooses("Reply")
    review.ends("Replied at")
    assert review.finished() == "begun before"
    assert witness.count("offline") == 0


def cut_short(owner: ThreadsClient, own: ServerProcess, witness: Witness, *names: str) -> list[str]:
    """Calls that the server died of; the requests that ask what became of them, in their order."""
    thread_id = owner.new_thread()
    message = script(calls(*(("hold", {"name": name}) for name in names)))
    with ThreadPoolExecutor(1) as aside, suppress(httpx.TransportError):
        sent = aside.submit(owner.at(own.url).chat, thread_id, message)
        for name in names:
            wait_for(lambda name=name: witness.count(name), lambda count: count == 1)
        own.kill()
        sent.result()
    own.start()
    listed = wait_for(lambda: owner.http.get(INBOX).json()["requests"], lambda found: len(found) == len(names))
    by_call = {next(name for name in names if name in body_of(owner, entry)): entry["request_id"] for entry in listed}
    return [by_call[name] for name in names]


def body_of(owner: ThreadsClient, entry: dict[str, str]) -> str:
    return view(owner, entry["request_id"])["body"]["description"]


def test_what_was_cut_short_is_put_to_a_person_in_our_words(
    reviewing: Person, own: ServerProcess, witness: Witness
) -> None:
    names = ("doubted-again", "doubted-skipped", "doubted-done")
    again, skipped, done = cut_short(reviewing.client, own, witness, *names)
    review = opened(reviewing, again)
    page = review.page
    expect(page.get_by_role("heading", level=1)).to_have_text("hold was cut short: did it take effect?")
    expect(page.get_by_role("region", name="What was cut short")).to_contain_text('"doubted-again"')
    expect(page.get_by_text("Interlock asks this, not the agent.").first).to_be_visible()
    expect(page.get_by_text("Written by the agent")).to_have_count(0)
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    page.get_by_role("radio", name="Run it again").check()
    review.tries("Send")
    review.is_open()
    review.code.fill(page.get_by_text("▲ options need the code").get_by_role("strong").inner_text())
    review.chooses("Send")
    review.ends("Answered at")

    review = opened(reviewing, skipped)
    review.press("2", "Control+Enter")
    review.ends("Answered at")

    review = opened(reviewing, done)
    review.press("3")
    review.page.get_by_label("Its result").fill("it is there")
    review.chooses("Send")
    review.ends("Answered at")

    wait_for(lambda: witness.count("doubted-again"), lambda count: count == 2)
    witness.release("doubted-again")
    told = review.finished().split(" | ")
    assert (told[0], told[2]) == ("held doubted-again", "it is there")
    assert "Skipped" in told[1]
    assert [witness.count(name) for name in names] == [2, 1, 1]


def test_an_english_page_has_no_chinese_sentence_after_a_crash(
    reviewing: Person, own: ServerProcess, witness: Witness
) -> None:
    page = reviewing.opens("/inbox")
    (request_id,) = cut_short(reviewing.client, own, witness, "doubted-in-english")
    row = page.get_by_role("link", name="was cut short")
    expect(row).to_contain_text("hold was cut short: did it take effect?")
    row.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("was cut short")
    thread_id = view(reviewing.client, request_id)["conversation_id"]
    for path in (f"/requests/{request_id}", f"/chat/{thread_id}", "/history"):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert not CHINESE.search(page.locator("body").inner_text())
