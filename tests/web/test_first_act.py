"""A new installation: the empty inbox leads its first person through one approval, as the README tells it."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.web.conftest import Visit
from tests.web.inspecting import Inspector
from tests.web.person import PHONE
from tests.web.reviewing import waits

README = {"en-GB": "README.md", "zh-CN": "README.zh-CN.md"}
WORDS: dict[str, dict[str, str]] = {
    "en-GB": {
        "title": "Try it once",
        "act": "Ask the demo agent",
        "dismiss": "Don’t show this again",
        "second": "Step 2 of 3",
        "third": "Step 3 of 3",
        "said": "delete hello.py",
        "sample": "The demo agent's folder.",
        "approve": "Approve",
        "refuse": "Refuse",
    },
    "zh-CN": {
        "title": "先试一次",
        "act": "让演示智能体试试",
        "dismiss": "不再显示",
        "second": "第 2 步，共 3 步",
        "third": "第 3 步，共 3 步",
        "said": "删除 hello.py",
        "sample": "这里是演示智能体的文件夹。",
        "approve": "批准",
        "refuse": "拒绝",
    },
}


@pytest.fixture(params=WORDS)
def locale(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def fresh(tmp_path: Path) -> Generator[ServerProcess]:
    """As `interlock serve` starts it for the first time."""
    process = ServerProcess(tmp_path / "data")
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture
def first(fresh: ServerProcess) -> Generator[ThreadsClient]:
    client = ThreadsClient(fresh.url, "ann").sign_in()
    yield client
    client.http.close()


def begun(page: Page, words: dict[str, str]) -> None:
    page.get_by_role("button", name=words["act"]).press("Enter")
    expect(page.get_by_text(words["second"])).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("delete_file")


def approve(page: Page, client: ThreadsClient, words: dict[str, str]) -> None:
    """With the digits that stand after the last line."""
    (entry,) = client.http.get("/api/v1/inbox").raise_for_status().json()["requests"]
    code = client.http.get(f"/api/v1/inbox/requests/{entry['request_id']}").raise_for_status().json()["code"]
    expect(page.get_by_text(code, exact=True)).to_be_visible()
    waits(page)
    page.locator("input[inputmode=numeric]").fill(code)
    waits(page)
    page.get_by_role("button", name=words["approve"]).press("Space")


def outcomes(client: ThreadsClient) -> list[str]:
    history = client.http.get("/api/v1/history").raise_for_status().json()["entries"]
    return [entry["outcome"] for entry in history]


def test_the_first_act_is_what_the_readme_tells_and_works_to_its_end(
    fresh: ServerProcess, first: ThreadsClient, visit: Visit, locale: str
) -> None:
    words = WORDS[locale]
    readme = (Path(__file__).parents[2] / README[locale]).read_text()
    assert words["said"] in readme
    file = fresh.data / "workspace" / "hello.py"
    assert file.exists()
    page = visit(first, fresh.url, locale=locale).opens("/inbox")
    begun(page, words)
    assert file.exists()
    expect(page.get_by_role("main")).to_contain_text(words["sample"])
    # The guide does not come back when the page is loaded anew in the middle of it.
    page.reload()
    expect(page.get_by_text(words["second"])).to_be_visible()
    approve(page, first, words)
    expect(page.get_by_text(words["third"])).to_be_visible()
    wait_for(file.exists, lambda is_there: not is_there)
    assert outcomes(first) == ["approved"]
    page.get_by_role("status").filter(has_text=words["third"]).get_by_role("link").click()
    expect(page.get_by_text(words["said"], exact=True).first).to_be_visible()
    page.goto("/inbox")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text("✓")).to_be_visible()
    expect(page.get_by_text(words["title"])).to_have_count(0)
    # Nor for whoever comes with another browser.
    other = visit(first, fresh.url, locale=locale).opens("/inbox")
    expect(other.get_by_text("✓")).to_be_visible()
    expect(other.get_by_text(words["title"])).to_have_count(0)


def test_refusing_is_a_first_act_too_and_nothing_runs(
    fresh: ServerProcess, first: ThreadsClient, visit: Visit, locale: str
) -> None:
    words = WORDS[locale]
    page = visit(first, fresh.url, locale=locale, viewport=PHONE).opens("/inbox")
    begun(page, words)
    (entry,) = first.http.get("/api/v1/inbox").raise_for_status().json()["requests"]
    body = {"request_id": entry["request_id"], "response": {"granted": False}}
    first.http.post("/api/v1/agent/hitl/respond", json=body).raise_for_status()
    expect(page.get_by_text(words["third"])).to_be_visible()
    first.wait_for_rest(entry["conversation_id"])
    assert (fresh.data / "workspace" / "hello.py").exists()
    page.goto("/inbox")
    expect(page.get_by_text("✓")).to_be_visible()
    expect(page.get_by_text(words["title"])).to_have_count(0)


def test_who_wants_no_guide_dismisses_it_for_good(
    fresh: ServerProcess, first: ThreadsClient, visit: Visit, locale: str
) -> None:
    words = WORDS[locale]
    page = visit(first, fresh.url, locale=locale).opens("/inbox")
    expect(page.get_by_text(words["title"])).to_be_visible()
    page.get_by_role("button", name=words["dismiss"]).press("Enter")
    expect(page.get_by_text(words["title"])).to_have_count(0)
    page.reload()
    expect(page.get_by_text("✓")).to_be_visible()
    expect(page.get_by_text(words["title"])).to_have_count(0)
    assert first.http.get("/api/sessions").json()["total"] == 0


def test_the_guide_has_no_serious_fault_and_fits_a_phone(
    fresh: ServerProcess, first: ThreadsClient, visit: Visit, locale: str
) -> None:
    words = WORDS[locale]
    inspector = Inspector(visit(first, fresh.url, locale=locale).opens("/inbox"))
    expect(inspector.page.get_by_text(words["title"])).to_be_visible()
    inspector.looks("guide")
    begun(inspector.page, words)
    inspector.looks("request")
    assert inspector.faults == {}
    assert inspector.wide == {}


def test_without_the_demo_agent_nothing_is_offered_that_does_not_work(tmp_path: Path, visit: Visit) -> None:
    agent = Path(__file__).parents[2] / "examples" / "ask_first.py"
    with ServerProcess(tmp_path / "data", agents=[f"refunds={agent}:agent"]) as server:
        client = ThreadsClient(server.url, "ann").sign_in()
        page = visit(client, server.url).opens("/inbox")
        expect(page.get_by_text("Talk to an agent in Chat.")).to_be_visible()
        expect(page.get_by_role("button", name="Ask the demo agent")).to_have_count(0)
        client.http.close()
