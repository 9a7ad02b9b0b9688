"""The inbox is live: what others do, what time does, and what becomes of the connection."""

from collections.abc import Iterator

import pytest

from interlock_client.cli.terminal.request_list import RequestList
from interlock_client.cli.terminal.request_screen import RequestScreen
from tests.cli.terminal.driving import Asker, inbox
from tests.support.hitl import HitlClient, of
from tests.support.people import People
from tests.support.relay import Relay
from tests.support.server import ServerProcess


@pytest.fixture
def admin(people: People) -> Iterator[HitlClient]:
    """Somebody else who may answer."""
    with of(people.named("root")) as client:
        yield client


async def test_what_is_asked_comes_up_and_what_is_answered_elsewhere_goes(
    server: ServerProcess, key: str, asker: Asker, admin: HitlClient
) -> None:
    async with inbox(server.url, key) as driver:
        await driver.sees("Nothing waits")
        asked = asker.approval("late_tool")
        await driver.sees("late_tool")
        admin.respond(asked, {"granted": False})
        await driver.sees("root refused this")
        await driver.sees("Nothing waits")


async def test_one_that_is_open_says_who_was_first_and_takes_no_answer(
    server: ServerProcess, key: str, asker: Asker, admin: HitlClient
) -> None:
    asked = asker.approval()
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        admin.respond(asked, {"granted": True})
        await driver.sees("root approved this")
        await driver.sees("You sent nothing.")
        await driver.press("a", "r")
        assert isinstance(driver.app.screen, RequestScreen)
        await driver.sees("file_delete wants to run")


async def test_an_answer_that_comes_second_is_told_who_was_first(
    server: ServerProcess, key: str, asker: Asker, admin: HitlClient
) -> None:
    asked = asker.approval()
    async with inbox(server.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("a")
        await driver.sees("Allow file_delete")
        admin.respond(asked, {"granted": False})
        await driver.until(lambda: driver.app.waiting == [], "it still waits")
        await driver.press("a")
        await driver.sees("root refused this")
    assert asker.response_to(asked) == {"granted": False}


async def test_one_that_expires_while_it_is_read_says_so(server: ServerProcess, key: str, asker: Asker) -> None:
    asker.ask("permission", {"tool_name": "hurried", "args": {}}, timeout_seconds=10)
    async with inbox(server.url, key) as driver:
        await driver.sees("EXPIRING SOON · 1")
        await driver.open("hurried")
        await driver.sees("It expired")
        await driver.press("escape")
        await driver.sees("Nothing waits")


async def test_a_deleted_conversation_goes_from_the_list(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    conversation = asker.ask("clarification", {"question": "Here?"})["conversation_id"]
    async with inbox(server.url, key) as driver:
        await driver.sees("Here?")
        person.http.delete(f"/api/sessions/{conversation}").raise_for_status()
        await driver.sees("Nothing waits")


async def test_the_highlight_stays_on_its_request_when_others_come_and_go(
    server: ServerProcess, key: str, asker: Asker, admin: HitlClient
) -> None:
    first, second = asker.approval("first_tool"), asker.approval("second_tool")
    async with inbox(server.url, key) as driver:
        await driver.sees("second_tool")
        await driver.press("j")
        chosen = driver.app.screen.query_one(RequestList)
        assert chosen.selected_id == second
        asker.approval("third_tool", risk_level="high")
        await driver.sees("third_tool")
        assert chosen.selected_id == second
        admin.respond(first, {"granted": False})
        await driver.sees_no("▲ first_tool")
        await driver.until(lambda: len(driver.app.waiting) == 2, "it still waits")
        assert chosen.selected_id == second


async def test_searching_narrows_the_list(server: ServerProcess, key: str, asker: Asker) -> None:
    asker.approval("first_tool")
    asker.approval("second_tool")
    async with inbox(server.url, key) as driver:
        await driver.sees("second_tool")
        await driver.press("slash")
        await driver.type("second")
        await driver.sees_no("first_tool")
        await driver.press("enter", "enter")
        await driver.sees("second_tool wants to run")
        await driver.press("escape", "slash")
        await driver.type("zzz")
        await driver.sees("No match; 2 hidden")
        await driver.press("escape")
        await driver.sees("first_tool")


async def test_the_keys_are_explained(server: ServerProcess, key: str) -> None:
    async with inbox(server.url, key) as driver:
        await driver.sees("Nothing waits")
        await driver.press("question_mark")
        await driver.sees("Enter never approves anything")
        await driver.press("escape")
        await driver.sees("Nothing waits")


async def test_a_lost_connection_is_shown_and_heals(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.approval()
    async with Relay(server.url) as relay, inbox(relay.url, key) as driver:
        await driver.open("file_delete")
        await relay.cut()
        await driver.sees("answering is off")
        await driver.press("a")
        await driver.sees("There is no connection: nothing is sent.")
        await relay.mend()
        await driver.sees("a approve")
        await driver.press("a", "a")
        await driver.sees("✓ approved")
    assert asker.response_to(asked) == {"granted": True}


async def test_an_answer_without_a_reply_is_not_called_done(server: ServerProcess, key: str, asker: Asker) -> None:
    asked = asker.approval()
    async with Relay(server.url) as relay, inbox(relay.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("a")
        await driver.sees("Allow file_delete")
        relay.deaf = True
        await driver.press("a")
        await driver.sees("no reply")
        assert "✓" not in driver.text
        await relay.cut()
        await relay.mend()
        await driver.sees("approved this")
    assert asker.response_to(asked) == {"granted": True}


async def test_without_a_credential_it_says_what_to_do(server: ServerProcess) -> None:
    async with inbox(server.url) as driver:
        await driver.sees("interlock login")
        await driver.sees("○ refused")
