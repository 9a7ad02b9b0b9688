"""A person's own account: the password, and where they are signed in."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.http import client as http_client
from tests.support.threads import ThreadsClient
from tests.web.conftest import Visit
from tests.web.person import PHONE, Person

NEW = "through the looking-glass"
WORDS: dict[str, dict[str, str]] = {
    "en-GB": {
        "old": "Current password",
        "new": "New password",
        "again": "Repeat new password",
        "change": "Change password",
        "wrong": "That is not your current password.",
        "unequal": "The new passwords do not match.",
        "short": "A password has 8 to 256 characters.",
        "done": "Password changed. One other session was signed out.",
        "ended": "Your session has ended",
        "this": "This session",
        "out": "Sign out",
        "others": "Sign out everywhere else",
        "everywhere": "Sign out everywhere",
        "sign in": "Sign in to Interlock",
    },
    "zh-CN": {
        "old": "当前密码",
        "new": "新密码",
        "again": "再次输入新密码",
        "change": "修改密码",
        "wrong": "当前密码不正确。",
        "unequal": "两次输入的新密码不一致。",
        "short": "密码为 8 到 256 个字符。",
        "done": "密码已修改。已退出其他 1 处登录。",
        "ended": "会话已结束",
        "this": "当前会话",
        "out": "退出",
        "others": "退出所有其他登录",
        "everywhere": "退出所有登录",
        "sign in": "登录 Interlock",
    },
}


@pytest.fixture(params=WORDS)
def locale(request: pytest.FixtureRequest) -> str:
    return request.param


def fill(page: Page, words: dict[str, str], old: str, new: str, again: str) -> None:
    """By keyboard alone."""
    page.get_by_label(words["old"], exact=True).focus()
    for text in (old, new, again):
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.get_by_role("button", name=words["change"]).press("Enter")


def elsewhere(person: Person, agent: str) -> ThreadsClient:
    """The same person with another program."""
    other = ThreadsClient(person.url, person.name, person.client.password)
    other.http.headers["user-agent"] = agent
    return other.sign_in(register=False)


def test_the_password_is_changed_here_and_every_other_session_ends(
    owner: ThreadsClient, visit: Visit, locale: str
) -> None:
    words = WORDS[locale]
    here = visit(owner, locale=locale)
    other = elsewhere(here, "curl/8.5.0")
    there = visit(other, locale=locale).opens("/inbox")
    page = here.opens("/settings/account")
    fill(page, words, "not this one", NEW, NEW)
    expect(page.get_by_role("alert").filter(has_text=words["wrong"])).to_be_visible()
    expect(page.get_by_label(words["old"], exact=True)).to_be_focused()
    fill(page, words, owner.password, NEW, f"{NEW}!")
    expect(page.get_by_label(words["again"])).to_be_focused()
    expect(page.get_by_role("alert").filter(has_text=words["unequal"])).to_be_visible()
    fill(page, words, owner.password, "short", "short")
    expect(page.get_by_role("alert").filter(has_text=words["short"])).to_be_visible()
    fill(page, words, owner.password, NEW, NEW)
    expect(page.get_by_role("status").filter(has_text=words["done"])).to_be_visible()
    expect(page.get_by_label(words["old"], exact=True)).to_have_value("")
    expect(there.get_by_role("dialog", name=words["ended"])).to_be_visible()
    # This page goes on, also when it is loaded again.
    page.reload()
    expect(page.get_by_text(words["this"])).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    sessions = page.get_by_role("main").get_by_role("listitem")
    expect(sessions).to_have_count(1)
    with http_client(here.url) as http:
        for password, status in ((owner.password, 401), (NEW, 200)):
            body = {"username": owner.username, "password": password}
            assert http.post("/api/auth/login", json=body).status_code == status
    other.http.close()


def test_a_session_is_signed_out_from_another_one_by_keyboard(owner: ThreadsClient, visit: Visit, locale: str) -> None:
    words = WORDS[locale]
    here = visit(owner, locale=locale)
    other = elsewhere(here, "curl/8.5.0")
    there = visit(other, locale=locale).opens("/inbox")
    page = here.opens("/settings/account")
    items = page.get_by_role("main").get_by_role("listitem")
    expect(items).to_have_count(2)
    expect(items.first).to_contain_text(words["this"])
    expect(items.nth(1)).to_contain_text(re.compile(r"curl/8\.5\.0.*127\.0\.0\.1", re.DOTALL))
    items.nth(1).get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(items).to_have_count(1)
    expect(page.get_by_role("heading", level=2).nth(1)).to_be_focused()
    expect(there.get_by_role("dialog", name=words["ended"])).to_be_visible()
    assert other.http.get("/api/v1/session").status_code == 401
    other.http.close()


def test_signing_out_everywhere_else_asks_first_and_leaves_this_page(
    owner: ThreadsClient, visit: Visit, locale: str
) -> None:
    words = WORDS[locale]
    here = visit(owner, locale=locale)
    others = [elsewhere(here, f"curl/8.{number}") for number in range(2)]
    page = here.opens("/settings/account")
    items = page.get_by_role("main").get_by_role("listitem")
    expect(items).to_have_count(3)
    page.get_by_role("button", name=words["others"]).press("Enter")
    dialog = page.get_by_role("dialog")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert all(one.http.get("/api/v1/session").is_success for one in others)
    page.get_by_role("button", name=words["others"]).press("Enter")
    dialog.get_by_role("button", name=words["others"]).press("Enter")
    expect(items).to_have_count(1)
    assert [one.http.get("/api/v1/session").status_code for one in others] == [401, 401]
    page.reload()
    expect(items).to_have_count(1)
    for one in others:
        one.http.close()


def test_signing_out_everywhere_ends_at_the_sign_in(owner: ThreadsClient, visit: Visit, locale: str) -> None:
    words = WORDS[locale]
    here = visit(owner, locale=locale, viewport=PHONE)
    page = here.opens("/settings/account")
    page.get_by_role("button", name=words["everywhere"], exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name=words["everywhere"]).click()
    expect(page.get_by_role("heading", name=words["sign in"])).to_be_visible()
    assert owner.http.get("/api/v1/session").status_code == 401


def test_what_a_program_calls_itself_is_only_ever_text(owner: ThreadsClient, visit: Visit) -> None:
    here = visit(owner)
    other = elsewhere(here, "<img src=x onerror=alert(1)>")
    page = here.opens("/settings/account")
    item = page.get_by_role("main").get_by_role("listitem").nth(1)
    expect(item).to_contain_text("<img src=x onerror=alert(1)>")
    expect(item.locator("img")).to_have_count(0)
    other.http.close()
