"""What was decided and where it is recorded; and what a person keeps: grants, saved values, keys, preferences."""

import re

import httpx
from playwright.sync_api import Page, expect

from tests.support.hitl import HitlClient, of
from tests.support.inbox import answer, asked, view
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.conftest import Visit
from tests.web.person import Person

SECRET = "s3cret-of-the-vault"


def test_the_history_tells_who_decided_what_and_from_where(reviewer: Person) -> None:
    first, second = asked(reviewer.client, ("guarded", {"name": "told-yes"}), ("execute", {"command": "told-no"}))
    answer(reviewer.client, first["request_id"], {"decision": "accept"}).raise_for_status()
    with of(reviewer.client) as elsewhere:
        elsewhere.respond(second["request_id"], {"granted": False})
    page = reviewer.opens("/history")
    approved, refused = (page.get_by_role("listitem").filter(has_text=name) for name in ("told-yes", "told-no"))
    expect(approved).to_contain_text(re.compile(rf"{reviewer.name} · web.*guarded told-yes.*approved", re.DOTALL))
    expect(refused).to_contain_text(re.compile(rf"{reviewer.name} · API.*execute told-no.*refused", re.DOTALL))
    page.get_by_label("Outcome").select_option(label="approved")
    expect(page).to_have_url(f"{reviewer.url}/history?outcome=approved")
    expect(refused).to_have_count(0)
    page.reload()
    expect(approved).to_be_visible()
    expect(refused).to_have_count(0)
    page.get_by_label("Tool").fill("execute")
    expect(page.get_by_text("Nothing matches these filters.")).to_be_visible()
    page.get_by_role("button", name="Clear filters").first.click()
    expect(refused).to_be_visible()
    assert page.url == f"{reviewer.url}/history"


# How far it is from both edges of its card.
EDGES = """one => {
  const [own, card] = [one, one.closest("[data-review]")].map((box) => box.getBoundingClientRect());
  return [own.left - card.left, card.right - own.right];
}"""


def test_an_entry_opens_to_what_was_shown_what_came_of_it_and_its_place_in_the_audit_chain(reviewer: Person) -> None:
    (entry,) = asked(reviewer.client, ("guarded", {"name": "recorded"}))
    edited = {"decision": "edit", "args": {"name": "recorded-edited"}}
    answer(reviewer.client, entry["request_id"], edited).raise_for_status()
    reviewer.client.wait_for_rest(entry["conversation_id"])
    page = reviewer.opens("/history")
    item = page.get_by_role("listitem").filter(has_text="approved, edited").first
    item.locator("summary").first.click()
    panel = item.get_by_role("group", name="What was asked to run")
    expect(panel).to_contain_text('"recorded"')
    left, right = panel.evaluate(EDGES)
    assert left == right
    expect(item).to_contain_text("recorded-edited")
    shown = view(reviewer.client, entry["request_id"])
    expect(item).to_contain_text(f"Digest of what was shown{shown['digest']}")
    expect(item).to_contain_text("It ran.")
    expect(item).to_contain_text("done recorded-edited")
    query = {"conversation_id": entry["conversation_id"]}
    audit = reviewer.client.http.get("/api/v1/audit", params=query).raise_for_status().json()["entries"]
    for recorded in audit:
        if recorded["action"].startswith(("request.", "effect.")):
            expect(item).to_contain_text(f"No. {recorded['number']} {recorded['action']}")
            expect(item.get_by_text(recorded["hash"])).to_be_visible()


def confirm(page: Page, question: str, act: str) -> None:
    dialog = page.get_by_role("dialog", name=question)
    dialog.get_by_role("button", name=act).click()
    expect(dialog).to_be_hidden()


def test_a_revoked_grant_allows_nothing_any_more(reviewer: Person, witness: Witness) -> None:
    name = f"granted-{reviewer.name}"
    (entry,) = asked(reviewer.client, ("guarded", {"name": name}))
    remembered = {"granted": True, "remember": True, "duration": "forever", "scope": "this_action"}
    with of(reviewer.client) as client:
        client.respond(entry["request_id"], remembered)
        assert asked(reviewer.client, ("guarded", {"name": name})) == []
        page = reviewer.opens("/settings/grants")
        item = page.get_by_role("main").get_by_role("listitem")
        expect(item).to_contain_text("Always allow exactly this guarded call in all my conversations until revoked")
        expect(item).to_contain_text("used once")
        item.get_by_role("button", name="Revoke").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        assert len(client.grants()) == 1
        item.get_by_role("button", name="Revoke").click()
        confirm(page, "Revoke this grant?", "Revoke")
        expect(page.get_by_text("No grants yet.")).to_be_visible()
        assert client.grants() == []
    wait_for(lambda: witness.count(name), lambda count: count == 2)
    assert len(asked(reviewer.client, ("guarded", {"name": name}))) == 1
    assert witness.count(name) == 2


def test_a_deleted_value_is_asked_for_again_and_is_nowhere_on_the_page(reviewer: Person) -> None:
    fields = {"fields": [{"name": "VAULT_KEY"}]}
    (entry,) = asked(reviewer.client, ("request_env_vars", fields))
    value = {"values": {"VAULT_KEY": SECRET}, "save": True}
    answer(reviewer.client, entry["request_id"], value).raise_for_status()
    with of(reviewer.client) as client:
        wait_for(client.saved, lambda saved: len(saved) == 1)
    assert asked(reviewer.client, ("request_env_vars", fields)) == []
    page = reviewer.opens("/settings/secrets")
    item = page.get_by_role("main").get_by_role("listitem")
    expect(item).to_contain_text(re.compile(r"VAULT_KEY.*for puppet.*secret", re.DOTALL))
    assert SECRET not in page.content()
    item.get_by_role("button", name="Delete").click()
    confirm(page, "Delete this value?", "Delete")
    expect(page.get_by_text("No saved values yet.")).to_be_visible()
    assert len(asked(reviewer.client, ("request_env_vars", fields))) == 1
    page.goto("/history")
    expect(page.get_by_role("listitem").first).to_be_visible()
    assert SECRET not in page.content()


def test_values_saved_for_two_keys_of_one_agent_name_tell_the_keys_apart(reviewer: Person) -> None:
    with of(reviewer.client) as client:
        for key in ("old-desk", "new-desk"):
            made = client.new_key(key, "agent", agent="twin")
            with HitlClient(reviewer.url, made["key"]) as agent:
                asked_for = agent.ask("env_var", {"fields": [{"name": "TWIN_KEY"}]})
            client.respond(asked_for["request_id"], {"values": {"TWIN_KEY": SECRET}, "save": True})
    page = reviewer.opens("/settings/secrets")
    items = page.get_by_role("main").get_by_role("listitem").filter(has_text="TWIN_KEY")
    expect(items).to_have_count(2)
    for key in ("old-desk", "new-desk"):
        expect(items.filter(has_text=f"API key {key} · ")).to_have_count(1)


def test_a_key_is_seen_once_works_and_is_refused_when_it_is_revoked(reviewer: Person) -> None:
    page = reviewer.opens("/settings/keys")
    page.get_by_label("Name", exact=True).fill("laptop")
    page.get_by_label("Personal key: can do what I can do").check()
    page.get_by_label("Expires after").select_option(label="1 year")
    page.get_by_role("main").get_by_role("button", name="Create key").click()
    made = page.get_by_role("dialog", name="Copy your new key. It is shown only once.")
    key = made.get_by_label("Key").input_value()
    made.get_by_role("button", name="I have saved it").click()
    item = page.get_by_role("main").get_by_role("listitem").filter(has_text="laptop")
    expect(item).to_contain_text(re.compile(r"laptop.*person.*never used.*expires", re.DOTALL))
    wait_for(page.content, lambda content: key not in content)
    with httpx.Client(base_url=reviewer.url, headers={"authorization": f"Bearer {key}"}, timeout=60) as program:
        assert program.get("/api/v1/session").json()["username"] == reviewer.name
        item.get_by_role("button", name="Revoke").click()
        confirm(page, "Revoke this key?", "Revoke")
        expect(page.get_by_text("1 expired or revoked key")).to_be_visible()
        assert program.get("/api/v1/session").status_code == 401


def test_neither_escape_nor_a_shortcut_takes_the_only_sight_of_a_new_key_away(reviewer: Person) -> None:
    page = reviewer.opens("/settings/keys")
    page.get_by_label("Name", exact=True).fill("only-sight")
    page.get_by_role("main").get_by_role("button", name="Create key").click()
    made = page.get_by_role("dialog", name="Copy your new key. It is shown only once.")
    key = made.get_by_label("Key").input_value()
    made.get_by_role("button", name="Copy").focus()
    # Browsers let the second Escape in a row through.
    for stroke in ("Escape", "Escape", "Escape", "g", "i", "?", "Escape"):
        page.keyboard.press(stroke)
    expect(page).to_have_url(re.compile("/settings/keys$"))
    expect(page.get_by_role("dialog")).to_have_count(1)
    expect(made.get_by_label("Key")).to_have_value(key)
    made.get_by_role("button", name="I have saved it").click()
    expect(made).to_have_count(0)


def test_a_key_for_an_agent_asks_under_its_name_and_never_answers(reviewer: Person) -> None:
    page = reviewer.opens("/settings/keys")
    page.get_by_label("Name", exact=True).fill("deploy-bot")
    page.get_by_label("Agent name").fill("deployer")
    page.get_by_role("main").get_by_role("button", name="Create key").click()
    key = page.get_by_role("dialog").get_by_label("Key").input_value()
    with httpx.Client(base_url=reviewer.url, headers={"authorization": f"Bearer {key}"}, timeout=60) as program:
        asking = {"type": "clarification", "request_data": {"question": "From the bot?"}}
        made = program.post("/api/v1/agent/hitl/requests", json=asking).raise_for_status().json()["data"]
        own = {"request_id": made["request_id"], "response": {"answer": "by myself"}}
        assert program.post("/api/v1/agent/hitl/respond", json=own).status_code == 403
    page.goto("/inbox")
    expect(page.get_by_role("listitem").filter(has_text="From the bot?")).to_contain_text("deployer")


def test_the_agents_are_listed_with_their_tools_and_how_risky_each_is(reviewer: Person) -> None:
    page = reviewer.opens("/settings/agents")
    for tool, risk in (("execute", "High"), ("guarded", "Medium"), ("peek", "Low")):
        item = page.get_by_role("listitem").filter(has=page.get_by_text(tool, exact=True))
        expect(item.first).to_contain_text(risk)
    expect(page.get_by_role("heading", level=2)).to_have_text(["puppet", "demo", "painter"])


def test_the_language_is_the_browsers_until_another_one_is_chosen(owner: ThreadsClient, visit: Visit) -> None:
    page = visit(owner, locale="zh-CN").opens("/requests/none")
    expect(page.get_by_role("heading", level=1, name="没有这个请求，或你无权查看。")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.goto("/settings/preferences")
    page.get_by_label("English").check()
    expect(page.get_by_role("heading", level=1, name="Preferences")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.goto("/inbox")
    expect(page.get_by_text("All caught up. Nothing is waiting.")).to_be_visible()
    page.goto("/settings/preferences")
    page.get_by_label("Match browser").check()
    expect(page.get_by_role("heading", level=1, name="偏好")).to_be_visible()


def test_colours_are_the_machines_until_others_are_chosen(person: Person) -> None:
    page = person.opens("/settings/preferences")
    page.emulate_media(color_scheme="dark")
    expect(page.locator("body")).to_have_css("background-color", "rgb(20, 23, 26)")
    page.get_by_label("Light").check()
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    page.reload()
    expect(page.get_by_label("Light")).to_be_checked()
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
