"""Hosts that go in any moment of a call: what was not sent is on record as not sent, and nobody is asked about it."""

import asyncio

import pytest

from tests.support.gateway import Gateway, GatewayHost, open_calls
from tests.support.mcp import underway as calling
from tests.support.waiting import wait_for
from tests.support.wire import MOMENTS, send_and_go

pytestmark = pytest.mark.parametrize("upstream", ["files"], indirect=True)


def call_and_go(host: GatewayHost, seconds: float, tool: str, text: str) -> None:
    headers = {
        "authorization": f"Bearer {host.host.key}",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": tool,
    }
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": {"text": text}, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    send_and_go(seconds, host.host.server.url, f"POST /mcp/g/{host.upstream}?hold=60", message, headers)


def test_a_call_whose_host_went_was_sent_and_recorded_or_is_known_not_to_have_been(
    host: GatewayHost, note: str
) -> None:
    before = open_calls(host.host.server)
    for number, seconds in enumerate(MOMENTS * 3):
        call_and_go(host, seconds, "read_note", f"{note}-{number}")
    wait_for(lambda: open_calls(host.host.server), lambda left: left <= before)
    assert host.host.pending() == []
    assert "request failed" not in host.host.server.log.read_text()


async def test_an_approved_call_whose_host_went_is_in_nobodys_hands(
    gateway: Gateway, host: GatewayHost, note: str
) -> None:
    before = await asyncio.to_thread(open_calls, host.host.server)
    for number, seconds in enumerate(MOMENTS):
        text = f"{note}-{number}"
        async with host.connected() as client, calling(client.call_tool("write_note", {"text": text})):
            request_id = await host.host.ask_id()
        await host.host.orphaned()
        host.host.person.respond(request_id, {"granted": True})
        await asyncio.to_thread(call_and_go, host, seconds, "write_note", text)
        await asyncio.to_thread(wait_for, lambda: open_calls(host.host.server), lambda left: left <= before)
        await host.host.orphaned()
        assert host.host.pending() == []
        assert gateway.witness.count(f"write_note {text}") <= 1
