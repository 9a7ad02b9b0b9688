"""The inbox in a terminal is told what happens: it does not ask, it reconnects, and nobody who types is disturbed."""

import re
from collections.abc import Iterator

import pytest
from textual.widgets import Input

from interlock_client.cli.terminal import feed
from interlock_client.cli.terminal.request_list import RequestList
from interlock_client.cli.terminal.request_screen import RequestScreen
from interlock_client.cli.terminal.text_screen import TextScreen
from tests.cli.terminal.driving import Asker, inbox
from tests.support.hitl import HitlClient, data_of, of
from tests.support.people import People
from tests.support.relay import Relay
from tests.support.server import ServerProcess


@pytest.fixture
def admin(people: People) -> Iterator[HitlClient]:
    """Somebody else who may answer."""
    with of(people.named("root")) as client:
        yield client


async def test_new_requests_come_by_the_stream_and_the_list_is_never_asked_for(
    server: ServerProcess, key: str, asker: Asker
) -> None:
    async with Relay(server.url) as relay, inbox(relay.url, key) as driver:
        await driver.sees("Nothing waits")
        asked = [asker.approval(f"tool_{number}") for number in range(3)]
        for number in range(3):
            await driver.sees(f"tool_{number}")
    read = [path.rpartition("/")[2] for path in relay.requests if "/hitl/requests/" in path]
    assert sorted(read) == sorted(asked)
    assert [path for path in relay.requests if path.endswith("/pending")] == []
    assert relay.requests.count("/api/v1/inbox/stream") == 1


async def test_many_that_wait_are_read_by_the_list(server: ServerProcess, key: str, asker: Asker) -> None:
    for number in range(feed.FEW + 2):
        asker.approval(f"tool_{number}")
    async with Relay(server.url) as relay, inbox(relay.url, key) as driver:
        await driver.sees(f"{feed.FEW + 2} waiting")
    assert [path for path in relay.requests if "/hitl/" in path] == ["/api/v1/agent/hitl/pending"]


async def test_those_beyond_the_most_come_up_once_there_is_room(
    server: ServerProcess, key: str, asker: Asker, admin: HitlClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "FEW", 1)
    monkeypatch.setattr(feed, "MOST", 3)
    asked = [asker.approval(f"tool_{number}") for number in range(5)]
    async with inbox(server.url, key) as driver:
        await driver.sees("3 waiting")
        for number, request_id in enumerate(asked[:2]):
            admin.respond(request_id, {"granted": False})
            await driver.sees(f"tool_{number + 3}")
        admin.respond(asked[2], {"granted": False})
        await driver.sees("2 waiting")


async def test_what_was_missed_while_the_stream_was_lost_is_caught_up_with(
    server: ServerProcess, key: str, asker: Asker, admin: HitlClient
) -> None:
    old = asker.approval("old_tool")
    async with Relay(server.url) as relay, inbox(relay.url, key) as driver:
        await driver.sees("old_tool")
        assert "● live" in driver.text
        await relay.cut()
        await driver.sees("○ no connection since")
        admin.respond(old, {"granted": True})
        asker.approval("new_tool")
        assert "old_tool" in driver.text
        await relay.mend()
        await driver.sees("● live again since")
        await driver.sees("new_tool")
        await driver.sees("root approved this")
        await driver.sees("1 waiting")


async def test_a_stream_that_falls_silent_is_taken_for_lost(server: ServerProcess, key: str) -> None:
    async with Relay(server.url) as relay, inbox(relay.url, key) as driver:
        await driver.sees("● live")
        relay.deaf = True
        await driver.sees("○ no connection since")
        relay.deaf = False
        await driver.sees("● live again since")


async def test_a_revoked_key_is_told_and_what_was_read_stays_on_the_screen(
    server: ServerProcess, person: HitlClient, asker: Asker
) -> None:
    asked = asker.approval()
    made = person.new_key("terminal")
    async with inbox(server.url, made["key"]) as driver:
        await driver.sees("file_delete")
        person.http.delete(f"/api/v1/keys/{made['id']}").raise_for_status()
        await driver.sees("○ refused")
        await driver.sees("interlock login")
        await driver.open("file_delete")
    assert asker.look(asked)["status"] == "pending"


async def test_what_is_searched_for_stays_typed_while_requests_come_and_go(
    server: ServerProcess, key: str, asker: Asker, admin: HitlClient
) -> None:
    first = asker.approval("first_tool")
    async with inbox(server.url, key) as driver:
        await driver.sees("first_tool")
        await driver.press("slash")
        await driver.type("sec")
        field = driver.app.screen.query_one("#search", Input)
        asker.approval("second_tool")
        await driver.sees("second_tool")
        admin.respond(first, {"granted": False})
        await driver.sees("root refused this")
        assert (field.value, driver.app.focused) == ("sec", field)
        await driver.type("ond")
        assert field.value == "second"
        await driver.sees("second_tool")


async def test_a_reason_stays_typed_while_requests_come_and_the_stream_is_lost(
    server: ServerProcess, key: str, asker: Asker
) -> None:
    asked = asker.approval()
    async with Relay(server.url) as relay, inbox(relay.url, key) as driver:
        await driver.open("file_delete")
        await driver.press("r")
        await driver.until(lambda: isinstance(driver.app.screen, TextScreen), "no reason is asked for")
        field = driver.app.screen.query_one("#text", Input)
        await driver.type("keep")
        other = asker.approval("other_tool")
        await driver.until(lambda: len(driver.app.waiting) == 2, "the other did not come up")
        await relay.cut()
        await driver.until(lambda: not driver.app.connected, "the loss is not noticed")
        await driver.type(" it")
        assert (field.value, driver.app.focused) == ("keep it", field)
        # It cannot be sent now, and has not to be typed again.
        await driver.press("ctrl+s")
        await driver.sees("There is no connection: nothing is sent.")
        await driver.press("escape")
        await relay.mend()
        await driver.sees("● live again since")
        driver.app.open_request(other)
        await driver.sees("a approve")
        await driver.press("r")
        await driver.sees("Refuse other_tool")
        assert "keep it" not in driver.text
        await driver.press("escape", "escape")
        await driver.sees("2 waiting")
        driver.app.open_request(asked)
        await driver.sees("a approve")
        await driver.press("r")
        await driver.sees("keep it")
        await driver.press("ctrl+s")
        await driver.sees("✓ refused")
    assert asker.response_to(asked) == {"granted": False, "reason": "keep it"}


async def test_an_answer_stays_typed_and_in_focus_when_somebody_else_was_first(
    server: ServerProcess, key: str, asker: Asker, admin: HitlClient
) -> None:
    asked = asker.ask("clarification", {"question": "Which colour?"})["request_id"]
    async with inbox(server.url, key) as driver:
        await driver.open("Which colour?")
        await driver.type("red")
        focused = driver.app.focused
        admin.respond(asked, {"answer": "blue"})
        await driver.sees("root answered this")
        assert driver.app.focused is focused
        assert "red" in driver.text
        await driver.press("ctrl+s")
    assert asker.response_to(asked) == {"answer": "blue"}


async def test_what_comes_up_takes_neither_the_focus_nor_the_screen(
    server: ServerProcess, key: str, asker: Asker
) -> None:
    first = asker.approval("first_tool")
    async with inbox(server.url, key) as driver:
        await driver.open("first_tool")
        screen, focused = driver.app.screen, driver.app.focused
        asker.approval("urgent_tool", risk_level="critical")
        await driver.until(lambda: len(driver.app.waiting) == 2, "the other did not come up")
        assert isinstance(screen, RequestScreen)
        assert (driver.app.screen, screen.waiting.id) == (screen, first)
        assert driver.app.focused is focused
        await driver.press("escape")
        await driver.sees("urgent_tool")
        assert driver.app.screen.query_one(RequestList).selected_id == first


async def test_more_time_reaches_whoever_reads_the_request(
    server: ServerProcess, key: str, asker: Asker, person: HitlClient
) -> None:
    asked = asker.ask("permission", {"tool_name": "hurried", "args": {}}, timeout_seconds=119)["request_id"]
    async with inbox(server.url, key) as driver:
        await driver.open("hurried")
        await driver.until(lambda: re.search(r"\b1:[0-5]\d\b", driver.text) is not None, "no time left is told")
        data_of(person.post(f"requests/{asked}/extend", {"seconds": 3600}))
        await driver.sees("1 h left")
