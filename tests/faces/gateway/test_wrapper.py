"""`interlock mcp-gateway -- COMMAND`: any entry of a host is wrapped by prefixing it."""

import asyncio
from typing import Any

import pytest
from mcp_types import ElicitResult

from tests.support.gateway import Gateway, GatewayHost, Wrapped, status_of
from tests.support.mcp import text_of, underway
from tests.support.waiting import wait_for

pytestmark = pytest.mark.parametrize("upstream", ["files"], indirect=True)


@pytest.fixture
def wrapped(gateway: Gateway, host: GatewayHost) -> Wrapped:
    return Wrapped(host.host, gateway.witness)


async def test_calls_pass_ask_and_are_denied_and_the_rest_is_as_without_it(
    gateway: Gateway, host: GatewayHost, wrapped: Wrapped, mode: str, note: str
) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with wrapped.connected(mode) as client:
        assert client.instructions == "Keep notes."
        assert [one.name for one in (await client.list_resources()).resources] == ["one"]
        passed = await client.call_tool("read_note", {"text": note}, progress_callback=progressed)
        assert text_of(passed) == f"read_note: {note}"
        assert [one[0] for one in heard] == sorted(one[0] for one in heard)
        assert heard[-1] == (1, 2, "half read")
        assert status_of(await client.call_tool("broken", {"text": note})) == "denied"
        async with underway(client.call_tool("write_note", {"text": note})) as call:
            asked = await host.respond({"granted": True, "args": {"text": f"{note}-changed"}})
            assert text_of(await call) == f"write_note: {note}-changed"
        assert asked["request_data"]["tool_display_name"] == "files: write_note"
        async with underway(client.call_tool("write_note", {"text": note})) as call:
            await host.respond({"granted": False, "reason": "not today"})
            refused = await call
    assert status_of(refused) == "refused"
    assert "not today" in text_of(refused)
    counts = [gateway.witness.count(f"write_note {text}") for text in (note, f"{note}-changed")]
    assert counts == [0, 1]
    assert gateway.witness.count(f"broken {note}") == 0


async def test_the_same_call_again_while_it_runs_is_not_run_twice(
    gateway: Gateway, host: GatewayHost, wrapped: Wrapped, note: str
) -> None:
    named: Any = {"claudecode/toolUseId": f"toolu_{note}"}
    async with wrapped.connected() as client, underway(client.call_tool("hang", {"text": note}, meta=named)) as first:
        await host.respond({"granted": True})
        await asyncio.to_thread(wait_for, lambda: gateway.witness.count(f"hang {note}"), lambda count: count == 1)
        async with underway(client.call_tool("hang", {"text": note}, meta=named)) as second:
            # What is asked after it is answered: by then it has been asked too.
            await client.call_tool("read_note", {"text": note})
            gateway.witness.release(note)
            assert [text_of(await call) for call in (first, second)] == [f"hang: {note}"] * 2
    assert gateway.witness.count(f"hang {note}") == 1


async def test_a_question_of_the_server_reaches_the_host(
    gateway: Gateway, wrapped: Wrapped, mode: str, note: str
) -> None:
    async def answered(_context: Any, _params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"name": "Ada"})

    async with wrapped.connected(mode, elicitation_callback=answered) as client:
        assert text_of(await client.call_tool("greet", {"text": note})) == "hello Ada"
    assert gateway.witness.count(f"greet {note}") == 1


async def test_nothing_is_called_where_the_server_does_not_know_the_key(
    gateway: Gateway, host: GatewayHost, note: str
) -> None:
    async with Wrapped(host.host, gateway.witness, key="ik_wrong").connected() as client:
        result = await client.call_tool("read_note", {"text": note})
    assert status_of(result) == "unreachable"
    assert gateway.witness.count(f"read_note {note}") == 0
