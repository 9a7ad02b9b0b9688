"""Approvals in the inbox: read, then a second act; Enter is never one."""

from typing import Any

import pytest

from interlock_client.cli.terminal import request_screen
from interlock_client.cli.terminal.confirm_screen import ConfirmScreen
from interlock_client.cli.terminal.edit_screen import EditScreen
from interlock_client.cli.terminal.request_screen import RequestScreen
from tests.cli.terminal.driving import Asker, inbox
from tests.support.hitl import HitlClient
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient


def is_pending(person: HitlClient, request_id: str) -> bool:
    return person.look(request_id)["status"] == "pending"


async def test_a_call_is_allowed_by_a_second_key(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.approval()
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("a")
        await driver.sees("Allow file_delete, exactly as shown?")
        await driver.press("a")
        await driver.sees("✓ approved")
        assert asker.response_to(asked) == {"granted": True}
        await driver.press("escape")
        await driver.sees("Nothing waits")


async def test_enter_approves_nothing(server: ServerProcess, key: str, asker: Asker, person: HitlClient) -> None:
    asked = asker.approval()
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("enter", "enter", "a")
        await driver.sees("Allow file_delete")
        await driver.press("enter", "enter")
        assert isinstance(driver.app.screen, ConfirmScreen)
        await driver.press("escape", "enter")
        assert isinstance(driver.app.screen, RequestScreen)
    assert is_pending(person, asked)


@pytest.mark.parametrize("risk", ["high", "critical"])
async def test_a_risky_call_needs_a_word_typed_in_full(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient, risk: str
) -> None:
    asked = asker.approval(risk_level=risk)
    async with inbox(server.url, key) as driver:
        await driver.sees("HIGH RISK · 1")
        await driver.open("file_delete")
        await driver.press("a")
        await driver.sees("type YES or file_delete in full")
        await driver.press("a", "a", "ctrl+s", "enter")
        await driver.sees("That is not it")
        assert is_pending(person, asked)
        await driver.press("backspace", "backspace")
        await driver.type("file_delete")
        await driver.press("enter")
        assert is_pending(person, asked)
        await driver.press("ctrl+s")
        await driver.sees("✓ approved")
    assert asker.response_to(asked) == {"granted": True}


async def test_a_name_that_a_hand_types_by_itself_is_no_word(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.approval("a", risk_level="high")
    async with inbox(server.url, key) as driver:
        await driver.open("HIGH")
        await driver.press("a")
        await driver.sees("type YES in full")
        await driver.type("YES")
        await driver.press("ctrl+s")
        await driver.sees("✓ approved")
    assert asker.response_to(asked) == {"granted": True}


async def test_keys_pressed_as_it_comes_up_do_nothing(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_screen, "GUARD", 3600.0)
    asked = asker.approval()
    async with inbox(server.url, key) as driver:
        await driver.open_without_waiting("file_delete")
        await driver.pilot.press("a", "a", "r", "ctrl+s")
        assert isinstance(driver.app.screen, RequestScreen)
    assert is_pending(person, asked)


async def test_what_is_longer_than_the_screen_has_to_be_read_to_its_end(
    server: ServerProcess, key: str, asker: Asker
) -> None:
    command = "\n".join(f"echo {number}" for number in range(100)) + "\nlast line"
    asked = asker.approval("execute_all", args={"command": command})
    async with inbox(server.url, key) as driver:
        await driver.open("execute_all")
        await driver.press("a")
        await driver.sees("Read it first")
        for _ in range(10):
            await driver.press("space")
        await driver.sees("last line")
        await driver.press("a", "a")
        await driver.sees("✓ approved")
    assert asker.response_to(asked) == {"granted": True}


async def test_a_refusal_carries_its_reason(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.approval(risk_level="high")
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("r")
        await driver.type("not today")
        await driver.press("ctrl+s")
        await driver.sees("✓ refused")
    assert asker.response_to(asked) == {"granted": False, "reason": "not today"}


async def test_a_reply_stands_in_for_the_tool(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.approval()
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("m", "ctrl+s")
        await driver.sees("Some words are needed")
        await driver.type("use trash")
        await driver.press("ctrl+s")
        await driver.sees("✓ replied")
    assert asker.response_to(asked) == {"granted": False, "reply": "use trash"}


async def test_an_edit_is_shown_as_a_diff_and_confirmed(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.approval(args={"path": "/tmp/a.txt", "note": "键\u202e"})
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("e")
        await driver.until(lambda: isinstance(driver.app.screen, EditScreen), "no editor came up")
        area: Any = driver.app.screen.query_one("#json")
        assert "\\u202e" in area.text
        area.text = area.text.replace("/tmp/a.txt", "/tmp/b.txt")
        await driver.press("ctrl+s")
        shown = await driver.sees("with these arguments instead?")
        assert '-   "path": "/tmp/a.txt"' in shown
        assert '+   "path": "/tmp/b.txt"' in shown
        await driver.press("a")
        await driver.sees("✓ approved, edited")
    assert asker.response_to(asked) == {"granted": True, "args": {"path": "/tmp/b.txt", "note": "键\u202e"}}


async def test_an_edit_that_is_no_json_is_kept_and_says_where(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    asked = asker.approval()
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("e")
        await driver.until(lambda: isinstance(driver.app.screen, EditScreen), "no editor came up")
        area: Any = driver.app.screen.query_one("#json")
        for wrong in ('{"path": ', "[1]", '{"a": NaN}', '{"a": 1, "a": 2}'):
            area.text = wrong
            await driver.press("ctrl+s")
            await driver.sees("This is no JSON object")
            assert area.text == wrong
    assert is_pending(person, asked)


async def test_an_edited_risky_call_needs_the_word_too(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    asked = asker.approval(risk_level="high")
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("e")
        await driver.until(lambda: isinstance(driver.app.screen, EditScreen), "no editor came up")
        area: Any = driver.app.screen.query_one("#json")
        area.text = "{}"
        await driver.press("ctrl+s", "a", "ctrl+s")
        await driver.sees("That is not it")
        assert is_pending(person, asked)
        await driver.press("backspace")
        await driver.type("YES")
        await driver.press("ctrl+s")
        await driver.sees("✓ approved, edited")
    assert asker.response_to(asked) == {"granted": True, "args": {}}


async def test_only_what_the_agent_takes_is_offered(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    asked = asker.approval(allowed=["accept", "reject"])
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        assert "e edit" not in driver.text
        await driver.press("e", "m")
        await driver.sees("does not take that answer")
        assert isinstance(driver.app.screen, RequestScreen)
    assert is_pending(person, asked)


async def test_a_permission_is_remembered_as_the_sentence_says(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    asker.approval()
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("a")
        await driver.sees("Always allow file_delete, any arguments, in this conversation")
        await driver.press("4", "a")
        await driver.sees("✓ approved")
    grants = [(grant["scope"], grant["duration"], grant["allow"]) for grant in person.grants()]
    assert grants == [("this_tool", "session", True)]


async def test_allowing_every_tool_takes_the_word(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient, owner: ThreadsClient
) -> None:
    asked = asker.approval()
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("a", "7", "a")
        await driver.sees(f"Always allow every tool, any arguments, in all of {owner.username}'s conversations")
        await driver.sees("type YES in full")
        assert is_pending(person, asked)
        await driver.type("YES")
        await driver.press("ctrl+s")
        await driver.sees("✓ approved")
    grants = [(grant["scope"], grant["duration"], grant["allow"]) for grant in person.grants()]
    assert grants == [("all_tools", "forever", True)]


async def test_high_risk_is_a_choice_of_its_own_that_takes_its_own_words(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    asked = asker.approval()
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("a")
        await driver.sees("[ ] h also for high-risk calls")
        await driver.press("h", "2", "a")
        await driver.sees("High-risk calls go with any arguments or every tool only")
        await driver.press("6", "a")
        await driver.sees("high-risk calls?")
        await driver.type("YES")
        await driver.press("ctrl+s")
        await driver.sees("That is not it: type HIGH RISK in full")
        assert is_pending(person, asked)
        await driver.press("backspace", "backspace", "backspace")
        await driver.type("HIGH RISK")
        await driver.press("ctrl+s")
        await driver.sees("✓ approved")
    assert [(grant["scope"], grant["ceiling"]) for grant in person.grants()] == [("all_tools", "high")]


async def test_without_that_choice_a_permission_stays_below_high_risk(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    asker.approval()
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("a", "h", "h", "4", "a")
        await driver.sees("✓ approved")
    assert [grant["ceiling"] for grant in person.grants()] == ["medium"]


async def test_of_a_risky_call_only_the_very_same_is_remembered(server: ServerProcess, key: str, asker: Asker) -> None:
    asker.approval(risk_level="critical")
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("a")
        shown = await driver.sees("exactly this file_delete call")
        assert "any arguments" not in shown


async def test_a_refusal_is_remembered(server: ServerProcess, key: str, asker: Asker, person: HitlClient) -> None:
    asker.approval(risk_level="high")
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("r", "tab", "5", "ctrl+s")
        await driver.sees("✓ refused")
    grants = [(grant["scope"], grant["duration"], grant["allow"]) for grant in person.grants()]
    assert grants == [("this_tool", "forever", False)]


async def test_a_request_is_cancelled_with_a_reason(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.approval()
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("ctrl+n")
        await driver.type("wrong person")
        await driver.press("ctrl+s")
        await driver.sees("✓ cancelled")
    assert asker.look(asked)["status"] == "cancelled"
