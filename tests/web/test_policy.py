"""The page of the policy, for admins: written, tried, saved, in shadow, activated; and why somebody was asked."""

import re
from collections.abc import Generator
from itertools import count
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.hitl import of
from tests.support.people import FIRST, People
from tests.support.puppet import calls, says, script
from tests.support.threads import ThreadsClient
from tests.web.conftest import Visit
from tests.web.inspecting import Inspector

POLICY = "/api/v1/policy"

_numbers = count(1)


@pytest.fixture
def root(people: People) -> Generator[ThreadsClient]:
    """The admin; what they had count, or put in shadow, is put off again."""
    admin = people.named(FIRST)
    yield admin
    now = state(admin.http)
    admin.http.post(f"{POLICY}/deactivate", json={"expected": now["active"]}).raise_for_status()
    admin.http.post(f"{POLICY}/shadow/off", json={"expected": now["shadow"]}).raise_for_status()


@pytest.fixture
def mark() -> str:
    """A word in the calls of one test, by which its rules know them."""
    return f"policy-page-{next(_numbers)}"


def state(admin: httpx.Client) -> dict[str, Any]:
    return admin.get(POLICY).raise_for_status().json()


def rules(mark: str) -> str:
    return (
        f'[[rule]]\nname = "free"\ntools = ["guarded"]\n'
        f'when = \'args.name.startsWith("{mark}-free")\'\nthen = "allow"\n\n'
        f'[[test]]\nfacts = {{tool = "guarded", args = {{name = "{mark}-free"}}}}\nexpect = {{then = "allow"}}\n'
    )


def saved(admin: httpx.Client, text: str) -> int:
    return admin.post(f"{POLICY}/versions", json={"text": text}).raise_for_status().json()["version"]


def asks(client: ThreadsClient, name: str, action: str | None = None) -> str:
    """The thread on which a call was asked about, and answered so."""
    thread = client.new_thread("puppet")
    client.chat(thread, script(calls(("guarded", {"name": name})), says("done")))
    if action:
        client.resume(thread, action)
    return thread


def editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Policy text")


def test_a_policy_is_written_checked_and_tried(
    root: ThreadsClient, owner: ThreadsClient, visit: Visit, mark: str
) -> None:
    asks(owner, f"{mark}-free-1", "cancel")
    page = visit(root).opens("/settings/policy")
    written = editor(page)
    written.fill(rules(mark).replace('"allow"\n\n', '"never"\n\n'))
    status = page.get_by_text("1 problem. Tests run once they are solved.")
    expect(status).to_be_visible()
    save = page.get_by_role("button", name="Save as a new version")
    expect(save).to_be_disabled()
    page.get_by_role("button", name="Line 1", exact=True).press("Enter")
    assert page.evaluate(
        "document.activeElement.value.slice(document.activeElement.selectionStart).split('\\n')[0]"
    ) == ("[[rule]]")
    # Of what is typed the last is what counts, however the answers come.
    for text in (
        rules(mark) + "[[rule]]",
        rules(mark).replace('expect = {then = "allow"}', 'expect = {then = "deny"}'),
    ):
        written.fill(text)
    expect(page.get_by_text("0 of 1 tests pass.")).to_be_visible()
    written.fill(rules(mark))
    expect(page.get_by_text("Can be used. 1 rule; its test passes.")).to_be_visible()

    page.get_by_role("button", name="Replay past requests").press("Enter")
    first = page.get_by_role("region", name="Replay").get_by_role("row").nth(1)
    expect(first).to_contain_text("a person refused")
    expect(first).to_contain_text("would be allowed")
    request = owner.http.get("/api/v1/history").json()["entries"][0]["request_id"]
    first.get_by_role("link", name=f"{mark}-free-1").click()
    expect(page).to_have_url(re.compile(f"/requests/{request}$"))
    page.go_back()
    # Whoever looks at an example, or loads the page again, comes back to what they wrote.
    expect(editor(page)).to_have_value(rules(mark))
    page.reload()
    expect(editor(page)).to_have_value(rules(mark))


def test_a_policy_is_saved_and_activated_in_place_of_what_was_seen(
    root: ThreadsClient, visit: Visit, mark: str
) -> None:
    before = state(root.http)["versions"]
    page = visit(root).opens("/settings/policy")
    editor(page).fill(rules(mark))
    save = page.get_by_role("button", name="Save as a new version")
    page.get_by_label("Note: why this version").fill("free ones are free")
    expect(save).to_be_enabled()
    save.press("Enter")
    expect(page.get_by_text("It is not active yet.")).to_be_visible()
    now = state(root.http)
    (version,) = [one["version"] for one in now["versions"] if one not in before]
    assert now["active"] is None
    row = page.get_by_role("listitem").filter(has_text=f"Version {version}saved by {FIRST}")
    expect(row).to_contain_text("free ones are free")

    activate = page.get_by_role("button", name=f"Activate: version {version}", exact=True)
    activate.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Active now: none.")
    # Somebody else was quicker.
    other = saved(root.http, rules(mark))
    root.http.post(f"{POLICY}/versions/{other}/activate", json={"expected": None}).raise_for_status()
    confirm = dialog.get_by_role("button", name="Activate", exact=True)
    confirm.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text(f"version {other} is active now")
    expect(confirm).to_be_disabled()
    assert state(root.http)["active"] == other
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    activate.press("Enter")
    expect(dialog).to_contain_text(f"Active now: version {other}.")
    confirm.press("Enter")
    expect(dialog).to_have_count(0)
    expect(page.get_by_text(f"Version {version} is active.")).to_be_visible()


def test_a_request_and_the_history_say_which_rule_it_was(
    root: ThreadsClient, owner: ThreadsClient, visit: Visit, mark: str
) -> None:
    version = saved(root.http, rules(mark))
    active = state(root.http)["active"]
    root.http.post(f"{POLICY}/versions/{version}/activate", json={"expected": active}).raise_for_status()
    asks(owner, f"{mark}-free")
    waiting = asks(owner, f"{mark}-other")
    decided = owner.http.get("/api/v1/history").json()["entries"][0]["request_id"]
    with of(owner) as client:
        asked = client.one_pending(waiting)["request_id"]
    page = visit(owner).opens(f"/requests/{asked}")
    page.get_by_text("Why was I asked?").click()
    expect(page.get_by_text(f"No rule of policy version {version} applies")).to_be_visible()
    expect(page.get_by_text("Admins also see the conditions")).to_be_visible()
    page.goto(f"/requests/{decided}")
    expect(page.get_by_text(f"by rule free of policy version {version}. Nobody was asked.")).to_be_visible()
    page.get_by_text("What the policy said").click()
    expect(page.get_by_text(f"Rule free of policy version {version} allows this.")).to_be_visible()
    expect(page.get_by_text("Condition:")).to_have_count(0)
    page.goto("/history")
    expect(page.get_by_text(f"rule free, policy version {version}")).to_be_visible()
    # What a rule says is nobody's but an admin's.
    page.goto("/settings/policy")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Policy")
    page = visit(root).opens(f"/requests/{decided}")
    page.get_by_text("What the policy said").click()
    expect(page.get_by_text(f'args.name.startsWith("{mark}-free")')).to_be_visible()


def test_a_version_in_shadow_tells_where_it_differs(
    root: ThreadsClient, owner: ThreadsClient, visit: Visit, mark: str
) -> None:
    version = saved(root.http, rules(mark))
    page = visit(root).opens("/settings/policy")
    page.get_by_role("button", name=f"Put in shadow: version {version}", exact=True).press("Enter")
    expect(page.get_by_text("In shadow: nothing has been asked yet.")).to_be_visible()
    asks(owner, f"{mark}-free", "cancel")
    page.reload()
    report = page.get_by_role("region", name=f"Version {version} in shadow")
    expect(report).to_contain_text("it differs on 1")
    expect(report.get_by_role("row").nth(1)).to_contain_text("asked")
    page.get_by_role("button", name=f"End shadow: version {version}", exact=True).press("Enter")
    expect(report).to_have_count(0)
    assert state(root.http)["shadow"] is None


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_axe_finds_nothing_serious_and_nothing_is_too_wide(
    root: ThreadsClient, owner: ThreadsClient, visit: Visit, locale: str, mark: str
) -> None:
    version = saved(root.http, rules(mark))
    shadow = state(root.http)["shadow"]
    root.http.post(f"{POLICY}/versions/{version}/shadow", json={"expected": shadow}).raise_for_status()
    asks(owner, f"{mark}-free-{'long' * 40}", "cancel")
    inspector = Inspector(visit(root, locale=locale).opens("/settings/policy"))
    page = inspector.page
    page.locator("textarea").fill(rules(mark) + "# " + "averylongword" * 20)
    page.locator("[data-ok]").wait_for()
    page.get_by_role("button", name="Replay past requests" if locale == "en-GB" else "用过往请求重放").press("Enter")
    expect(page.get_by_role("table")).to_have_count(2)
    inspector.looks("policy")
    page.locator("textarea").fill("[[rule]]\nname = 1\n")
    page.locator("[data-mark]").first.wait_for()
    inspector.looks("problems")
    assert inspector.faults == {}
    assert inspector.wide == {}
