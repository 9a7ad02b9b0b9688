"""Every kind of request that the demo agent makes, answered at a desk in English and on a phone in Chinese."""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.hitl import finished
from tests.support.inbox import told, view
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for
from tests.web.person import PHONE, Person
from tests.web.reviewing import waits

SECRET = "value-of-the-demo-key"


@dataclass(frozen=True)
class Case:
    said: str
    """To the agent."""
    picked: tuple[str, ...]
    pressed: str
    outcome: tuple[str, ...]

    def is_told_in(self, text: str) -> bool:
        """Whether the agent has said what came of it."""
        return all(part in text for part in self.outcome)


ENGLISH = {
    "approval": Case("create english.py", (), "Approve", ("english.py is written.",)),
    "clarification": Case("clarify", ("Staging",), "Send", ("Got it: Staging.",)),
    "decision": Case("decide", ("Step by step",), "Send", ("your decision is: Step by step",)),
    "env_var": Case("I need a key", (), "Send values", ("I have DEMO_API_KEY now",)),
    "questions": Case(
        "ask me three questions", ("Red", "Dog", "Right away"), "Send 3 answers", ("Red", "Dog", "Right away")
    ),
}
CHINESE = {
    "approval": Case("创建一个 chinese.py 文件", (), "批准", ("chinese.py 已经写好了。",)),
    "clarification": Case("澄清一下", ("测试环境",), "发送", ("明白了：测试环境。",)),
    "decision": Case("帮我决定", ("逐步发布",), "发送", ("您的决定是：逐步发布",)),
    "env_var": Case("我需要密钥", (), "发送这些值", ("收到了 DEMO_API_KEY",)),
    "questions": Case("问我三个问题", ("红色", "狗", "立即执行"), "发送 3 个答案", ("红色", "狗", "立即执行")),
}


def at(browser: Browser, server: ServerProcess, people: People, name: str, **options: Any) -> Generator[Person]:
    person = Person(browser, server.url, people.named(name), options)
    person.takes_the_clock()
    yield person
    person.leave()


@pytest.fixture(scope="module")
def desk(browser: Browser, server: ServerProcess, people: People) -> Generator[Person]:
    yield from at(browser, server, people, "at-a-desk")


@pytest.fixture(scope="module")
def phone(browser: Browser, server: ServerProcess, people: People) -> Generator[Person]:
    options = {"locale": "zh-CN", "viewport": PHONE, "has_touch": True, "is_mobile": True}
    yield from at(browser, server, people, "at-a-phone", **options)


def answers(page: Page, kind: str, case: Case) -> None:
    """As a person would who has read it."""
    pressed = page.get_by_role("button", name=case.pressed, exact=True)
    pressed.wait_for()
    waits(page)
    for name in case.picked:
        page.get_by_role("radio", name=name).check()
    if kind == "env_var":
        page.get_by_label("DEMO_API_KEY").fill(SECRET)
    pressed.click()


def is_answered(person: Person, kind: str, case: Case) -> None:
    (entry,) = told(person.client, case.said, "demo")
    page = person.turns_to(f"/requests/{entry['request_id']}")
    answers(page, kind, case)
    shown = wait_for(lambda: view(person.client, entry), lambda shown: shown["status"] == "answered")
    assert (shown["kind"], shown["source"]) == (kind, "web")
    wait_for(lambda: finished(person.client, entry["conversation_id"]), case.is_told_in)
    expect(page.get_by_role("button", name=case.pressed, exact=True)).to_have_count(0)
    assert SECRET not in page.content()
    person.clears()


@pytest.mark.parametrize("kind", ENGLISH)
def test_what_the_demo_agent_asks_is_answered_at_a_desk(desk: Person, workspace: Path, kind: str) -> None:
    is_answered(desk, kind, ENGLISH[kind])
    assert kind != "approval" or (workspace / "english.py").exists()


@pytest.mark.parametrize("kind", CHINESE)
def test_what_the_demo_agent_asks_is_answered_on_a_phone_in_chinese(phone: Person, workspace: Path, kind: str) -> None:
    is_answered(phone, kind, CHINESE[kind])
    assert kind != "approval" or (workspace / "chinese.py").exists()
