"""The page of people, for admins: roles, who may sign in, and who is deleted."""

import re
from itertools import count

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.inbox import asked
from tests.support.people import FIRST, People
from tests.support.threads import ThreadsClient
from tests.web.conftest import Visit
from tests.web.inspecting import Inspector
from tests.web.stage import shown

_numbers = count(1)

WORDS: dict[str, dict[str, str]] = {
    "en-GB": {
        "role": "Change role",
        "reviewer": "Reviewer",
        "elsewhere": "Agents that run elsewhere",
        "save": "Save",
        "block": "Block sign-in",
        "allow": "Allow sign-in",
        "blocked": "Sign-in blocked",
        "delete": "Delete",
        "really": "Delete this person",
        "gone": "deleted p",
        "owner": "Owner",
        "only": "is the only admin",
        "unknown": "Check the agents",
        "out": "An admin has blocked this account",
        "ended": "The server ended this without an answer",
        "colon": ": ",
    },
    "zh-CN": {
        "role": "更改角色",
        "reviewer": "审核人",
        "elsewhere": "在别处运行的智能体",
        "save": "保存",
        "block": "禁止登录",
        "allow": "允许登录",
        "blocked": "已禁止登录",
        "delete": "删除",
        "really": "删除此人",
        "gone": "已删除 ",
        "owner": "普通用户",
        "only": "是唯一的管理员",
        "unknown": "请检查智能体",
        "out": "管理员已禁止此账户登录",
        "ended": "结束此请求，未予答复",
        "colon": "：",
    },
}


@pytest.fixture(params=WORDS)
def locale(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def root(people: People) -> ThreadsClient:
    return people.named(FIRST)


@pytest.fixture
def newcomer(people: People) -> ThreadsClient:
    return people.named(f"newcomer-{next(_numbers)}")


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("main").get_by_role("listitem").filter(has=page.get_by_text(name, exact=True))


def act(page: Page, words: dict[str, str], what: str, name: str) -> None:
    """By keyboard."""
    page.get_by_role("button", name=f"{words[what]}{words['colon']}{name}", exact=True).press("Enter")


def test_a_role_is_changed_and_holds_at_once(
    root: ThreadsClient, newcomer: ThreadsClient, visit: Visit, locale: str
) -> None:
    words, name = WORDS[locale], newcomer.username
    page = visit(root, locale=locale).opens("/settings/people")
    act(page, words, "role", name)
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(words["reviewer"]).check()
    dialog.get_by_label("puppet").check()
    dialog.get_by_label(words["elsewhere"]).fill("nobody-of-that-name/mailer")
    dialog.get_by_role("button", name=words["save"]).press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text(words["unknown"])
    dialog.get_by_label(words["elsewhere"]).fill(f"{name}/mailer")
    dialog.get_by_role("button", name=words["save"]).press("Enter")
    expect(dialog).to_have_count(0)
    expect(row(page, name)).to_contain_text(re.compile(rf"{words['reviewer']}.*puppet, {name}/mailer", re.DOTALL))
    present = newcomer.http.get("/api/v1/session").json()
    assert (present["role"], present["reviews"]) == ("reviewer", ["puppet", f"{name}/mailer"])


def test_who_is_blocked_is_told_so_and_comes_back_when_allowed(
    root: ThreadsClient, newcomer: ThreadsClient, visit: Visit, locale: str
) -> None:
    words, name = WORDS[locale], newcomer.username
    theirs = visit(newcomer, locale=locale).opens("/inbox")
    page = visit(root, locale=locale).opens("/settings/people")
    act(page, words, "block", name)
    page.get_by_role("dialog").get_by_role("button", name=words["block"]).press("Enter")
    expect(row(page, name)).to_contain_text(words["blocked"])
    sheet = theirs.get_by_role("dialog")
    sheet.locator("input[type=password]").fill(newcomer.password)
    sheet.locator("input[type=password]").press("Enter")
    expect(sheet.get_by_role("alert")).to_contain_text(words["out"])
    act(page, words, "allow", name)
    expect(row(page, name)).not_to_contain_text(words["blocked"])
    sheet.locator("input[type=password]").fill(newcomer.password)
    sheet.locator("input[type=password]").press("Enter")
    expect(sheet).to_have_count(0)


def test_a_person_is_deleted_once_their_name_was_typed(
    root: ThreadsClient, newcomer: ThreadsClient, visit: Visit, locale: str
) -> None:
    words, name = WORDS[locale], newcomer.username
    (entry,) = asked(newcomer, ("guarded", {"name": "left behind"}))
    page = visit(root, locale=locale).opens("/settings/people")
    act(page, words, "delete", name)
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("textbox")).to_be_focused()
    really = dialog.get_by_role("button", name=words["really"])
    page.keyboard.type(name[:-1])
    expect(really).to_be_disabled()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert newcomer.http.get("/api/v1/session").is_success
    act(page, words, "delete", name)
    expect(dialog.get_by_role("textbox")).to_be_focused()
    page.keyboard.type(name)
    # Enter in the field deletes nobody.
    page.keyboard.press("Enter")
    assert newcomer.http.get("/api/v1/session").is_success
    really.press("Enter")
    expect(dialog).to_have_count(0)
    assert newcomer.http.get("/api/v1/session").status_code == 401
    expect(page.get_by_role("button", name=name)).to_have_count(0)
    page.get_by_text(re.compile(words["gone"])).first.click()
    expect(row(page, name)).to_be_visible()
    # No person did, and "system" is none.
    shown(page, f"/requests/{entry['request_id']}")
    expect(page.locator("[data-act=state]")).to_contain_text(words["ended"])
    expect(page.get_by_role("main")).not_to_contain_text("system")


def test_the_only_admin_is_told_why_they_stay_one(root: ThreadsClient, visit: Visit, locale: str) -> None:
    words = WORDS[locale]
    page = visit(root, locale=locale).opens("/settings/people")
    act(page, words, "role", FIRST)
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(words["owner"]).check()
    dialog.get_by_role("button", name=words["save"]).press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text(words["only"])
    assert root.http.get("/api/v1/session").json()["role"] == "admin"
    # Nothing on this page removes whoever looks at it.
    page.keyboard.press("Escape")
    for name in ("block", "delete"):
        expect(page.get_by_role("button", name=f"{words[name]}{words['colon']}{FIRST}", exact=True)).to_have_count(0)


def test_nobody_but_an_admin_has_the_page(newcomer: ThreadsClient, visit: Visit) -> None:
    page = visit(newcomer).opens("/settings/people")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("People")
    page.goto("/settings/account")
    expect(page.get_by_role("navigation", name="Sections").get_by_role("link", name="People")).to_have_count(0)


def test_axe_finds_nothing_serious_and_nothing_is_too_wide(root: ThreadsClient, visit: Visit, locale: str) -> None:
    words = WORDS[locale]
    inspector = Inspector(visit(root, locale=locale).opens("/settings/people"))
    for name, path in (("people", "/settings/people"), ("account", "/settings/account")):
        shown(inspector.page, path)
        inspector.looks(name)
    shown(inspector.page, "/settings/people")
    for what in ("role", "delete", "block"):
        inspector.page.get_by_role("button", name=re.compile(rf"^{words[what]}.(?!.*{FIRST})")).first.click()
        expect(inspector.page.get_by_role("dialog")).to_be_visible()
        inspector.looks(what)
        inspector.page.keyboard.press("Escape")
    assert inspector.faults == {}
    assert inspector.wide == {}
