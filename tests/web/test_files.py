"""Calls that change a file: what becomes of it is shown, and holds only for the file that was shown."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support import puppet
from tests.support.inbox import told
from tests.support.people import People
from tests.support.puppet import Call, calls, script
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for
from tests.web.person import Person
from tests.web.reviewing import Review, opened

LINES = "".join(f"line {number}\n" for number in range(1, 41))
WRITERS = Path(__file__).with_name("writers.py")
CALLS: dict[str, Call] = {
    "claude": (
        "str_replace_based_edit_tool",
        {"command": "create", "path": "/claude.md", "file_text": "after"},
    ),
    "deep": ("write_file", {"file_path": "/deep.md", "content": "after\n"}),
    "own": ("save", {"name": "own.md", "content": "after\n"}),
}
"""What each agent is told to call, which writes a file of its name."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, workspace: Path) -> Generator[ServerProcess]:
    """A server with agents that write files in one folder: the demo agent, and others that are not from here."""
    agents = [puppet.DEMO_SPEC, *(f"{name}={WRITERS}:{name}" for name in CALLS)]
    environment = {"INTERLOCK_LOCALE": "en", puppet.WORKSPACE: str(workspace)}
    process = ServerProcess(tmp_path_factory.mktemp("files"), agents=agents, environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="module")
def desk(browser: Browser, own: ServerProcess) -> Generator[Person]:
    with People(own.url) as people:
        person = Person(browser, own.url, people.named("reviewer"), {})
        person.takes_the_clock()
        yield person
        person.leave()


def ordered(reviewer: Person, message: str, agent: str = "demo") -> Review:
    """What an agent makes of a message, on its page."""
    (entry,) = told(reviewer.client, message, agent)
    return opened(reviewer, entry["request_id"])


def becomes(file: Path, text: str) -> None:
    wait_for(lambda: file.read_text() if file.exists() else None, lambda found: found == text)


def test_an_edit_of_a_file_is_shown_as_a_difference(reviewer: Person, workspace: Path) -> None:
    file = workspace / "long.txt"
    file.write_text(LINES)
    review = ordered(reviewer, 'replace "line 20" with "LINE TWENTY" in long.txt')
    expect(review.page.get_by_role("heading", level=1)).to_have_text("edit_file wants to run")
    expect(review.shown).to_contain_text("+1 −1")
    expect(review.shown).to_contain_text("removed:line 20")
    expect(review.shown).to_contain_text("added:LINE TWENTY")
    assert "line 5" not in review.shown.inner_text()
    review.shown.get_by_role("button", name="‹16 unchanged lines› expand").click()
    expect(review.shown).to_contain_text("line 5")
    review.chooses("Approve")
    review.ends("Approved at")
    becomes(file, LINES.replace("line 20\n", "LINE TWENTY\n"))


def test_a_new_file_is_all_added(reviewer: Person, workspace: Path) -> None:
    review = ordered(reviewer, "write fresh.txt: first words")
    expect(review.shown).to_contain_text("new file")
    expect(review.shown).to_contain_text("added:first words")
    review.chooses("Approve")
    review.ends("Approved at")
    wait_for((workspace / "fresh.txt").exists, lambda exists: exists)


def test_deleting_a_file_takes_the_code(reviewer: Person, workspace: Path) -> None:
    file = workspace / "old.txt"
    file.write_text("old\n")
    review = ordered(reviewer, "delete old.txt")
    expect(review.shown.get_by_text("▲ High")).to_be_visible()
    # What would be lost is told once, and without a click.
    expect(review.shown.get_by_text("old", exact=True)).to_be_visible()
    expect(review.shown).not_to_contain_text("What it would do")
    review.tries("Approve")
    review.is_open()
    assert file.exists()
    review.types_code()
    review.chooses("Approve")
    review.ends("Approved at")
    wait_for(file.exists, lambda exists: not exists)


def test_deleting_a_file_that_is_not_there_says_so(reviewer: Person) -> None:
    review = ordered(reviewer, "delete never-written.txt")
    expect(review.shown).to_contain_text("This file does not exist now.")
    expect(review.shown).not_to_contain_text("What it would do")


def test_a_file_that_changed_meanwhile_is_not_overwritten(reviewer: Person, workspace: Path) -> None:
    file = workspace / "shared.txt"
    file.write_text("before\n")
    review = ordered(reviewer, "write shared.txt: after")
    expect(review.shown).to_contain_text("removed:before")
    file.write_text("somebody else was here\n")
    review.chooses("Approve")
    expect(review.bar).to_contain_text("The file has changed since it was shown. Approving is off.")
    expect(review.button("Approve")).to_be_disabled()
    expect(review.shown).to_contain_text("removed:before")
    review.tries("Approve")
    review.press("a")
    assert (len(review.sent), review.told()["status"]) == (1, "pending")
    assert file.read_text() == "somebody else was here\n"
    review.chooses("Show the new changes")
    expect(review.shown).to_contain_text("removed:somebody else was here")
    review.chooses("Approve")
    review.ends("Approved at")
    wait_for(file.read_text, lambda text: text.strip() == "after")


@pytest.mark.parametrize("agent", CALLS)
def test_a_file_of_any_agent_that_changed_meanwhile_is_not_overwritten_and_is_shown_anew(
    reviewer: Person, workspace: Path, agent: str
) -> None:
    file = workspace / f"{agent}.md"
    file.write_text("before\n")
    review = ordered(reviewer, script(calls(CALLS[agent])), agent)
    expect(review.shown).to_contain_text("removed:before")
    expect(review.shown).to_contain_text("added:after")
    file.write_text("somebody else was here\n")
    review.chooses("Approve")
    review.ends("The file has changed since it was shown. Approving is off.")
    expect(review.button("Approve")).to_be_disabled()
    assert (len(review.sent), review.told()["status"]) == (1, "pending")
    assert file.read_text() == "somebody else was here\n"
    review.chooses("Show the new changes")
    expect(review.shown).to_contain_text("removed:somebody else was here")
    review.chooses("Approve")
    review.ends("Approved at")
    becomes(file, "after\n")


def test_coming_back_to_a_file_that_changed_turns_approving_off(reviewer: Person, workspace: Path) -> None:
    file = workspace / "left-alone.txt"
    file.write_text("before\n")
    review = ordered(reviewer, "write left-alone.txt: after")
    expect(review.button("Approve")).to_be_enabled()
    review.press("a")
    expect(review.bar.get_by_text("exactly as shown?")).to_be_visible()
    file.write_text("changed\n")
    review.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(review.button("Approve")).to_be_disabled()
    expect(review.bar.get_by_text("exactly as shown?")).to_be_hidden()
    review.later()
    review.press("a", "a")
    review.is_open()
    assert file.read_text() == "changed\n"


def test_a_call_that_would_fail_shows_what_it_asks_for(reviewer: Person, workspace: Path) -> None:
    (workspace / "short.txt").write_text("nothing of the sort\n")
    review = ordered(reviewer, 'replace "this" with "that" in short.txt')
    expect(review.shown).to_contain_text("No diff: the file is not text")
    expect(review.shown.get_by_role("definition")).to_have_text(['"that"', '"this"', '"short.txt"'])
    review.chooses("Refuse")
    review.chooses("Refuse")
    review.ends("Refused at")


def test_of_a_difference_of_fifty_thousand_lines_only_what_is_near_the_screen_is_drawn(
    reviewer: Person, workspace: Path
) -> None:
    (workspace / "huge.txt").write_text("".join(f"line {number}\n" for number in range(50_000)))
    review = ordered(reviewer, "write huge.txt: replaced")
    review.bar.get_by_text("lines left").wait_for()
    expect(review.shown).to_contain_text("+1 −50001")
    assert review.shown.evaluate("one => one.querySelectorAll('*').length") < 5_000
    review.tries("Approve")
    review.is_open()
    review.page.locator("[data-review] > div").first.evaluate("one => { one.scrollTop = one.scrollHeight; }")
    last = review.shown.get_by_text("line 49999", exact=True)
    expect(last).to_be_visible()
    # More stands below what will run, as how it differs from an earlier call.
    last.scroll_into_view_if_needed()
    review.chooses("Approve")
    review.ends("Approved at")
    becomes(workspace / "huge.txt", "replaced")


def test_a_row_counts_the_lines_that_would_be_added_and_removed(reviewer: Person, workspace: Path) -> None:
    (workspace / "counted.txt").write_text("one\ntwo\nthree\n")
    review = ordered(reviewer, 'replace "two" with "TWO" in counted.txt')
    row = review.page.locator(f"li[data-request={review.request_id}]")
    expect(row).to_contain_text("edit_file counted.txt +1 −1")
    # Of what is settled the file is no longer what the call was to change.
    review.chooses("Approve")
    becomes(workspace / "counted.txt", "one\nTWO\nthree\n")
    assert review.told()["headline"] == "edit_file counted.txt"
