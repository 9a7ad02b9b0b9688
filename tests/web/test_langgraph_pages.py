"""LangGraph's own clients for people in a real browser, from another origin: an inbox that makes the calls of Agent
Inbox, and `useStream` of both protocols."""

import re
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.examples.readme import ADDRESS, ROOT, Readme
from tests.support.hitl import of
from tests.support.langgraph import LanggraphClient
from tests.support.people import People
from tests.support.puppet import Turn, calls, gate, says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.langgraph_page import Tab, build

CHATS = ("first", "second")
ALL = ("inbox", *CHATS)
ANSWERED = ("/runs/stream", "/commands")
NOTHING = re.compile("^(null|)$")

Open = Callable[..., Tab]


@pytest.fixture(scope="module")
def page(langgraph_page: tuple[str, Path]) -> str:
    address, folder = langgraph_page
    build(folder)
    return address


@pytest.fixture
def opens(browser: Browser, server: ServerProcess, page: str, owner: ThreadsClient) -> Generator[Open]:
    with of(owner) as account, browser.new_context() as context:
        key = account.new_key("page")["key"]

        def opened(client: str, thread_id: str) -> Tab:
            return Tab(context, page, client=client, url=server.url, key=key, thread=thread_id)

        yield opened


@pytest.fixture
def client(owner: ThreadsClient) -> Generator[LanggraphClient]:
    with LanggraphClient.of(owner) as made:
        yield made


@pytest.fixture
def fresh(request: pytest.FixtureRequest) -> str:
    return request.node.name


def asking(client: LanggraphClient, *turns: Turn) -> str:
    """A thread that waits at the first of these turns."""
    thread_id = client.thread()
    message = {"type": "human", "content": script(*turns)}
    body = {"assistant_id": "puppet", "input": {"messages": [message]}}
    assert client.post(thread_id, "wait", body).json()["__interrupt__"]
    return thread_id


def guarded(*names: str) -> list[Turn]:
    return [calls(("guarded", {"name": name})) for name in names]


def settles(client: LanggraphClient, thread_id: str, status: str = "idle") -> None:
    """Wait until it is so, and nothing is under way."""

    def look() -> list[str]:
        runs = client.http.get(f"/threads/{thread_id}/runs").json()
        found = client.http.post("/threads/search", json={"ids": [thread_id], "select": ["status"]}).json()
        return [found[0]["status"], *(one["status"] for one in runs if one["status"] != "success")]

    wait_for(look, lambda seen: seen == [status])


@pytest.mark.parametrize("name", ALL)
def test_what_is_approved_happens_once(
    opens: Open, client: LanggraphClient, witness: Witness, fresh: str, name: str
) -> None:
    thread_id = asking(client, *guarded(fresh))
    tab = opens(name, thread_id)
    expect(tab.shows("asked")).to_contain_text(fresh)
    tab.button("accept").click()
    expect(tab.shows("asked")).to_have_text(NOTHING)
    settles(client, thread_id)
    assert witness.count(fresh) == 1
    if name == "inbox":
        expect(tab.shows("toast")).to_have_text("done")
        expect(tab.shows("left")).to_have_text("0")
        expect(tab.shows("nodes")).to_contain_text("model")
    else:
        expect(tab.shows("said")).to_contain_text(f"done {fresh}")


@pytest.mark.parametrize("name", ALL)
def test_what_is_edited_happens_as_edited(
    opens: Open, client: LanggraphClient, witness: Witness, fresh: str, name: str
) -> None:
    # Agent Inbox sends what was typed as a text, also where the tool takes a number.
    is_inbox = name == "inbox"
    before = ("pay", {"amount": 1.5, "to": fresh}) if is_inbox else ("guarded", {"name": fresh})
    typed, after = ("7.5", f"{fresh}:7.5") if is_inbox else (f"{fresh}-edited", f"{fresh}-edited")
    thread_id = asking(client, calls(before))
    tab = opens(name, thread_id)
    expect(tab.shows("asked")).to_contain_text(fresh)
    tab.writes(typed)
    tab.button("edit").click()
    expect(tab.shows("asked")).to_have_text(NOTHING)
    settles(client, thread_id)
    assert (witness.count(after), witness.count(fresh), witness.count(f"{fresh}:1.5")) == (1, 0, 0)


@pytest.mark.parametrize("name", ALL)
def test_a_response_is_told_to_the_agent_and_nothing_happens(
    opens: Open, client: LanggraphClient, witness: Witness, fresh: str, name: str
) -> None:
    thread_id = asking(client, *guarded(fresh))
    tab = opens(name, thread_id)
    expect(tab.shows("asked")).to_contain_text(fresh)
    tab.writes("not on a Friday")
    tab.button("respond").click()
    expect(tab.shows("asked")).to_have_text(NOTHING)
    settles(client, thread_id)
    assert "not on a Friday" in client.state(thread_id)["values"]["messages"][-1]["content"]
    assert witness.count(fresh) == 0


def test_the_page_of_the_how_to_asks_and_answers(
    browser: Browser,
    server: ServerProcess,
    owner: ThreadsClient,
    langgraph_page: tuple[str, Path],
    witness: Witness,
    fresh: str,
) -> None:
    address, folder = langgraph_page
    document = Readme((ROOT / "docs/how-to/langgraph-clients.md").read_text())
    code = document.block("jsx", "useStream")
    with of(owner) as account:
        mine = {ADDRESS: server.url, "ms_sk_...": account.new_key("how-to")["key"], '"demo"': '"puppet"'}
    for before, after in mine.items():
        assert code.count(before) == 1
        code = code.replace(before, after)
    source = folder / "how-to.jsx"
    source.write_text(code)
    build(folder, source, "how-to.html")
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{address}/how-to.html")
        page.get_by_placeholder("delete").fill(script(*guarded(f"{fresh}-1", f"{fresh}-2")))
        page.get_by_role("button", name="Send").click()
        expect(page.locator("pre")).to_contain_text(f"{fresh}-1")
        page.reload()
        expect(page.locator("pre")).to_contain_text(f"{fresh}-1")
        page.get_by_role("button", name="Approve").dblclick()
        expect(page.locator("pre")).to_contain_text(f"{fresh}-2")
        page.get_by_role("button", name="Reject").click()
        expect(page.locator("main")).to_contain_text("not now")
    assert (witness.count(f"{fresh}-1"), witness.count(f"{fresh}-2")) == (1, 0)


@pytest.mark.parametrize("act", ["ignore", "resolve"])
def test_what_is_ignored_or_resolved_does_not_happen(
    opens: Open, client: LanggraphClient, witness: Witness, fresh: str, act: str
) -> None:
    thread_id = asking(client, *guarded(fresh))
    tab = opens("inbox", thread_id)
    expect(tab.shows("asked")).to_contain_text(fresh)
    tab.button(act).click()
    expect(tab.shows("toast")).to_have_text("ignored" if act == "ignore" else "resolved")
    settles(client, thread_id)
    assert witness.count(fresh) == 0


@pytest.mark.parametrize("name", ALL)
def test_a_double_click_answers_one_question(
    opens: Open, client: LanggraphClient, witness: Witness, fresh: str, name: str
) -> None:
    first, second = f"{fresh}-staging", f"{fresh}-PRODUCTION"
    thread_id = asking(client, *guarded(first, second))
    tab = opens(name, thread_id)
    expect(tab.shows("asked")).to_contain_text(first)
    tab.button("accept").dblclick()
    expect(tab.shows("asked")).to_contain_text(second)
    settles(client, thread_id, "interrupted")
    assert (witness.count(first), witness.count(second)) == (1, 0)


@pytest.mark.parametrize("name", ALL)
def test_a_stale_tab_answers_no_later_question(
    opens: Open, client: LanggraphClient, people: People, witness: Witness, fresh: str, name: str
) -> None:
    first, second = f"{fresh}-staging", f"{fresh}-PRODUCTION"
    thread_id = asking(client, *guarded(first, second))
    tab = opens(name, thread_id)
    expect(tab.shows("asked")).to_contain_text(first)
    if name == "second":
        # It follows what others do: a person who clicks on what stood there until then.
        tab.button("hold").click()
    with of(people.named("root")) as admin:
        [asked] = admin.pending(thread_id)
        admin.respond(asked["request_id"], {"granted": True})
    wait_for(lambda: witness.count(first), bool)
    settles(client, thread_id, "interrupted")
    with tab.page.expect_response(lambda one: one.request.method == "POST" and one.url.endswith(ANSWERED)) as replied:
        tab.button("accept").click()
    reply = replied.value
    assert reply.status == 409 or reply.json()["type"] == "error", reply.text()
    expect(tab.shows("toast" if name == "inbox" else "refusal")).not_to_have_text("")
    assert (witness.count(first), witness.count(second)) == (1, 0)
    assert client.http.get(f"/threads/{thread_id}").json()["status"] == "interrupted"


@pytest.mark.parametrize("name", ALL)
def test_of_two_tabs_one_answers(opens: Open, client: LanggraphClient, witness: Witness, fresh: str, name: str) -> None:
    thread_id = asking(client, *guarded(fresh))
    tabs = [opens(name, thread_id) for _ in range(2)]
    for tab in tabs:
        expect(tab.shows("asked")).to_contain_text(fresh)
    for tab in tabs:
        # Without waiting for what comes of the other one's.
        tab.button("accept").evaluate("one => setTimeout(() => one.click())")
    wait_for(lambda: witness.count(fresh), bool)
    settles(client, thread_id)
    assert witness.count(fresh) == 1


@pytest.mark.parametrize("name", CHATS)
def test_a_reload_in_the_middle_of_a_stream_shows_all_of_it(
    opens: Open, client: LanggraphClient, witness: Witness, fresh: str, name: str
) -> None:
    thread_id = client.thread()
    tab = opens(name, thread_id)
    tab.writes(script(says("the first half, ", gate(fresh), "and the second")))
    tab.button("send").click()
    wait_for(lambda: witness.count(f"at:{fresh}"), bool)
    tab.page.reload()
    expect(tab.shows("said")).to_contain_text("the first half, ")
    witness.release(fresh)
    expect(tab.shows("said")).to_contain_text("the first half, and the second")
    settles(client, thread_id)


def test_a_tab_follows_another_one(opens: Open, client: LanggraphClient, witness: Witness, fresh: str) -> None:
    thread_id = client.thread()
    asker = opens("second", thread_id)
    asker.writes(script(*guarded(fresh)))
    asker.button("send").click()
    expect(asker.shows("asked")).to_contain_text(fresh)
    # Of a thread that never ran the hook follows nothing: it is opened when there is something.
    other = opens("second", thread_id)
    expect(other.shows("asked")).to_contain_text(fresh)
    other.button("accept").click()
    for tab in (asker, other):
        expect(tab.shows("said")).to_contain_text(f"done {fresh}")
    expect(other.shows("asked")).to_have_text(NOTHING)
    # The hook keeps a card that another one answered: a click on it is the repeat of that answer.
    with asker.page.expect_response(lambda one: one.url.endswith(ANSWERED)) as replied:
        asker.button("accept").click()
    assert replied.value.json()["type"] == "success"
    settles(client, thread_id)
    assert witness.count(fresh) == 1
